/* Counts the allocations of a test program and makes one of them fail. Only calls from the
 * project's own objects reach the wrappers; calls within the C library do not. The program must be
 * linked with WRAPPED ${BOXSPEC_ALLOCATIONS}. */
#ifndef BS_TESTS_ALLOCATIONS_H
#define BS_TESTS_ALLOCATIONS_H

#include <boxspec/error.h>

#include <stddef.h>

struct allocations {
    unsigned count;   /* allocations since the test set it to 0 */
    unsigned fail_at; /* the allocation that fails, counted from 1; 0 lets all succeed */
    int live;         /* blocks that were allocated and not freed */
};

extern struct allocations allocations;

/* Call `once` repeatedly. Each time another one of its allocations fails. It must then return
 * BS_E_EXECUTION with a message, and keep no memory. When no allocation fails any more, it must
 * return `expected` and must have made more than `least` allocations. */
void each_allocation_fails(int (*once)(const void *context, struct bs_error *err),
                           const void *context, int expected, unsigned least);

/* The allocation functions. For libraries that let the caller set such functions. */
void *__wrap_malloc(size_t size);
void __wrap_free(void *block);

#endif
