/* Seatbelt profiles as `reference/sbpl` may emit them: read, and asked what they allow.
 *
 * Only the forms of conformance/contracts/sbpl/page.md are read; anything else is refused, so that
 * nothing can be emitted whose meaning is unknown here. Whether a filter matches is decided on the
 * decoded strings, regular expressions by the C library's matcher on bytes.
 */
#ifndef BS_FUZZ_SEATBELT_H
#define BS_FUZZ_SEATBELT_H

#include <stdbool.h>
#include <stddef.h>

#include "support/expression.h"
#include "support/pool.h"

enum bs_seat_kind { BS_SEAT_LITERAL, BS_SEAT_SUBPATH, BS_SEAT_REGEX };

struct bs_seat_filter {
    enum bs_seat_kind kind;
    const char *text; /* decoded, a NUL behind it */
    size_t len;
    struct bs_fuzz_expression *expression; /* of BS_SEAT_REGEX */
};

enum { BS_SEAT_MOST_FILTERS = 2 };

struct bs_seat_clause {
    bool allows;
    const char *op;
    struct bs_seat_filter filters[BS_SEAT_MOST_FILTERS]; /* all of them must match */
    size_t n_filters;                                    /* 0: there is none */
};

struct bs_seatbelt {
    struct bs_seat_clause *clauses; /* behind the first two */
    size_t n;
    struct bs_fuzz_expression *expressions;
    const char *why; /* static: why it is refused */
    size_t line;     /* where, from 1 */
};

/* False with why and line. To be cleared in both cases, before the pool is. */
bool bs_seatbelt_read(const char *text, size_t len, struct bs_fuzz_pool *pool,
                      struct bs_seatbelt *profile);
void bs_seatbelt_clear(struct bs_seatbelt *profile);

/* `path` has a NUL behind it, here and below, and stays as it is until the profile is cleared. */
bool bs_seat_filter_matches(struct bs_seat_filter *filter, const char *path, size_t len);

/* Nobody knows for certain which of two readings is right, so a profile must not depend on it. */
enum bs_seat_reading {
    BS_SEAT_LAST_CLAUSE,  /* the last clause that matches, whatever its operation */
    BS_SEAT_MOST_SPECIFIC /* operation by operation from the most specific one; clauses with a
                             filter first */
};

/* `op` is that of one file operation, such as file-write-data. */
bool bs_seatbelt_allows(const struct bs_seatbelt *profile, enum bs_seat_reading reading,
                        const char *op, const char *path, size_t len);

#endif
