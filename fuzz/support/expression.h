/* The regular expressions of a profile, which the C library matches on bytes.
 *
 * For each expression, the C library builds a table of two kilobytes for each state that it visits.
 * Three measures save this time: filters with the same text share one expression; the literal text
 * at the start (the root's path) is compared without the library; the last answer is cached. */
#ifndef BS_FUZZ_EXPRESSION_H
#define BS_FUZZ_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "support/pool.h"

struct bs_fuzz_expression {
    const char *text; /* a profile's dialect, from `^` to `$` */
    struct bs_fuzz_expression *next;
    struct bs_fuzz_pool *pool;
    void *compiled; /* NULL until it is needed */
    const char *plain;
    size_t plain_len;
    const char *asked; /* the path of the last query */
    bool matched;
};

/* Return the expression of this text; add it to the list if it is new. */
struct bs_fuzz_expression *bs_fuzz_expression_of(struct bs_fuzz_expression **list, const char *text,
                                                 struct bs_fuzz_pool *pool);

/* Free the compiled expressions. Call this before the pool is cleared. */
void bs_fuzz_expressions_clear(struct bs_fuzz_expression *list);

/* True if the expression matches the path. `path` must end in a NUL and must not change until the
 * list is cleared. */
bool bs_fuzz_expression_matches(struct bs_fuzz_expression *expression, const char *path);

#endif
