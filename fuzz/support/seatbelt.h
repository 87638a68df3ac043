/* Reads the Seatbelt profiles that `reference/sbpl` writes, and decides what they allow.
 *
 * Only the forms of conformance/contracts/sbpl/page.md are read. All others are refused, so that
 * the reference cannot write a form whose meaning is unknown here. Filters are matched on the
 * decoded strings; the C library matches regular expressions on bytes. */
#ifndef BS_FUZZ_SEATBELT_H
#define BS_FUZZ_SEATBELT_H

#include <stdbool.h>
#include <stddef.h>

#include "support/expression.h"
#include "support/pool.h"

enum bs_seat_kind { BS_SEAT_LITERAL, BS_SEAT_SUBPATH, BS_SEAT_REGEX };

struct bs_seat_filter {
    enum bs_seat_kind kind;
    const char *text; /* decoded, ends in a NUL */
    size_t len;
    struct bs_fuzz_expression *expression; /* for BS_SEAT_REGEX */
};

enum { BS_SEAT_MOST_FILTERS = 2 };

struct bs_seat_clause {
    bool allows;
    const char *op;
    struct bs_seat_filter filters[BS_SEAT_MOST_FILTERS]; /* all must match */
    size_t n_filters;                                    /* 0: the clause applies to all files */
};

struct bs_seatbelt {
    struct bs_seat_clause *clauses; /* all clauses except the two of the header */
    size_t n;
    struct bs_fuzz_expression *expressions;
    const char *why; /* static text; the reason for a refusal */
    size_t line;     /* of the error, from 1 */
};

/* Read a profile. Returns false with `why` and `line` set if it is refused. Clear the profile in
 * both cases, before the pool. */
bool bs_seatbelt_read(const char *text, size_t len, struct bs_fuzz_pool *pool,
                      struct bs_seatbelt *profile);
void bs_seatbelt_clear(struct bs_seatbelt *profile);

/* `path` must end in a NUL, here and below, and must not change until the profile is cleared. */
bool bs_seat_filter_matches(struct bs_seat_filter *filter, const char *path, size_t len);

/* Two readings of a profile. The platform does not document which of them is right, so a profile
 * must have the same meaning under both. */
enum bs_seat_reading {
    BS_SEAT_LAST_CLAUSE, /* the last clause that matches decides, whatever its operation */
    /* operations go from specific to general, and for each the clauses with a filter come first */
    BS_SEAT_MOST_SPECIFIC
};

/* True if the profile allows `op`, a single file operation such as file-write-data, on the path. */
bool bs_seatbelt_allows(const struct bs_seatbelt *profile, enum bs_seat_reading reading,
                        const char *op, const char *path, size_t len);

#endif
