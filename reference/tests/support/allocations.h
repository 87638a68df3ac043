/* Allocations of a test program, counted, and one of them made to fail. Only calls of our own
 * objects come through the wrappers: the C library's stay inside it. The program is linked with
 * WRAPPED ${BOXSPEC_ALLOCATIONS}. */
#ifndef BS_TESTS_ALLOCATIONS_H
#define BS_TESTS_ALLOCATIONS_H

#include <stddef.h>

struct allocations {
    unsigned asked;   /* since the test set it to 0 */
    unsigned fail_at; /* the one that fails, from 1; 0 for none */
    int live;         /* blocks that were handed out and not given back */
};

extern struct allocations allocations;

/* For libraries that take functions of their user. */
void *__wrap_malloc(size_t size);
void __wrap_free(void *block);

#endif
