/* Allocations of a test program, counted, and one of them made to fail. Only calls of our own
 * objects come through the wrappers: the C library's stay inside it. The program is linked with
 * WRAPPED ${BOXSPEC_ALLOCATIONS}. */
#ifndef BS_TESTS_ALLOCATIONS_H
#define BS_TESTS_ALLOCATIONS_H

#include <boxspec/error.h>

#include <stddef.h>

struct allocations {
    unsigned asked;   /* since the test set it to 0 */
    unsigned fail_at; /* the one that fails, from 1; 0 for none */
    int live;         /* blocks that were handed out and not given back */
};

extern struct allocations allocations;

/* Asks `once` again and again, and another allocation of it fails each time: that is an error with
 * words, BS_E_EXECUTION, and nothing is kept by it. Until all are had: `expected` comes then, and
 * there are more than `least`. */
void each_allocation_fails(int (*once)(const void *context, struct bs_error *err),
                           const void *context, int expected, unsigned least);

/* For libraries that take functions of their user. */
void *__wrap_malloc(size_t size);
void __wrap_free(void *block);

#endif
