/* Default options of the sanitizers in every fuzz build. ASAN_OPTIONS and similar variables
 * override them. The sanitizers look these functions up by name.
 *
 *     quarantine_size_mb            keep the last 16 MB of freed blocks; with the default of 256
 *                                   every allocation is a cache miss
 *     allocator_may_return_null     impossible sizes return NULL, because the reference must
 *                                   refuse them itself
 *     max_allocation_size_mb        a block of this size is impossible
 *     malloc_context_size           eight frames identify the place of an allocation
 *     detect_stack_use_after_return off, because fake stacks cost more than everything else */
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
