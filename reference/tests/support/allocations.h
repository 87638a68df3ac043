/* Count the allocations of a test program, and let one of them fail. Only calls from the project's
 * own objects reach the wrappers; the C library's calls stay inside it. The program is linked with
 * WRAPPED ${BOXSPEC_ALLOCATIONS}. */
#ifndef BS_TESTS_ALLOCATIONS_H
#define BS_TESTS_ALLOCATIONS_H

#include <boxspec/error.h>

#include <stddef.h>

struct allocations {
    unsigned count;   /* since the test set it to 0 */
    unsigned fail_at; /* number of the failing one, from 1; 0: no failure */
    int live;         /* allocated blocks that were not freed */
};

extern struct allocations allocations;

/* Call `once` repeatedly, and let another of its allocations fail each time: the call must return
 * BS_E_EXECUTION with a message, and keep no memory. When all allocations succeed it must return
 * `expected`, and there must be more than `least` of them. */
void each_allocation_fails(int (*once)(const void *context, struct bs_error *err),
                           const void *context, int expected, unsigned least);

/* For libraries that accept allocation functions. */
void *__wrap_malloc(size_t size);
void __wrap_free(void *block);

#endif
