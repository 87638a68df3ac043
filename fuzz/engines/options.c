/* What the sanitizers are told in every fuzz build; ASAN_OPTIONS and its like still have the last
 * word. They look these functions up by name.
 *
 * quarantine_size_mb            of freed blocks the last 16 MB are watched; with the default of 256
 *                               every allocation is a miss in the caches
 * allocator_may_return_null     an impossible size is for the reference to refuse
 * max_allocation_size_mb        ... and a block as large as this one is impossible
 * malloc_context_size           who asked for a block is said by eight frames
 * detect_stack_use_after_return fake stacks cost more than all the rest
 */
#define EXPORT __attribute__((visibility("default")))

EXPORT const char *__asan_default_options(void);
EXPORT const char *__tsan_default_options(void);
EXPORT const char *__ubsan_default_options(void);

const char *__asan_default_options(void) {
    return "quarantine_size_mb=16:allocator_may_return_null=1:max_allocation_size_mb=1024:"
           "malloc_context_size=8:detect_stack_use_after_return=0";
}

const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

const char *__ubsan_default_options(void) { return "print_stacktrace=1"; }
