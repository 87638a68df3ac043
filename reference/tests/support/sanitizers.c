/* Options of the sanitizers. A failed allocation must return NULL, because tests depend on that.
 * The sanitizers find these functions by their names. */
#define EXPORT __attribute__((visibility("default")))

EXPORT const char *__asan_default_options(void);
EXPORT const char *__tsan_default_options(void);

const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }
