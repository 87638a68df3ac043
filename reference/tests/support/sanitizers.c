/* Failed allocations must return NULL under the sanitizers, too, because that is tested. The
 * sanitizers look these functions up by name. */
#define EXPORT __attribute__((visibility("default")))

EXPORT const char *__asan_default_options(void);
EXPORT const char *__tsan_default_options(void);

const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }
