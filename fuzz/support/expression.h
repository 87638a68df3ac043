/* The regular expressions of a profile, matched by the C library on bytes.
 *
 * That library makes a table of two kilobytes for each state it comes by, for each expression anew.
 * So there is one for all filters with the same text; the plain characters that it begins with,
 * which are the root's, are compared without it; and its last answer is kept.
 */
#ifndef BS_FUZZ_EXPRESSION_H
#define BS_FUZZ_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "support/pool.h"

struct bs_fuzz_expression {
    const char *text; /* of the dialect, from `^` to `$` */
    struct bs_fuzz_expression *next;
    struct bs_fuzz_pool *pool;
    void *compiled; /* once it is needed */
    const char *plain;
    size_t plain_len;
    const char *asked; /* last */
    bool matched;
};

/* The one of this text, put into the list where it is new. */
struct bs_fuzz_expression *bs_fuzz_expression_of(struct bs_fuzz_expression **list, const char *text,
                                                 struct bs_fuzz_pool *pool);

/* Before the pool is cleared. */
void bs_fuzz_expressions_clear(struct bs_fuzz_expression *list);

/* `path` has a NUL behind it, and stays as it is until the list is cleared. */
bool bs_fuzz_expression_matches(struct bs_fuzz_expression *expression, const char *path);

#endif
