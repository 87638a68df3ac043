/* Checks the content of a Seatbelt profile, clause by clause and path by path. */
#ifndef BS_FUZZ_SBPL_ORACLE_H
#define BS_FUZZ_SBPL_ORACLE_H

#include "support/decide_oracle.h"
#include "support/glob_case.h"
#include "support/seatbelt.h"

struct bs_fuzz_sbpl {
    const struct bs_fuzz_resolved *resolved;
    const char *root; /* without repeated and trailing slashes */
    bool folds;
    const char *const *sides; /* allowed paths outside the root, in clean form */
    size_t n_sides;
    struct bs_fuzz_pool *pool;
};

/* Check the clauses of the rules. Return NULL, or the error: a wrong number, order, operation or
 * filter of clauses, or a string that is not exactly the path. */
const char *bs_fuzz_sbpl_clauses(const struct bs_fuzz_sbpl *sbpl,
                                 const struct bs_seatbelt *profile);

struct bs_fuzz_sbpl_answer {
    bool writes;
    bool reads;
    bool unlinks;
    /* the profile may deny an allowed path, because a `?` meets a character outside ASCII */
    bool only_denies;
    bool is_open; /* this oracle does not know the right answer */
};

/* Decide about `path`, which is in normal form and below the root. */
struct bs_fuzz_sbpl_answer bs_fuzz_sbpl_decide(const struct bs_fuzz_sbpl *sbpl,
                                               struct bs_fuzz_text path);

/* Return the absolute form of a path below the root. */
const char *bs_fuzz_sbpl_absolute(const struct bs_fuzz_sbpl *sbpl, struct bs_fuzz_text path);

/* True if a rule that denies reading names a place that is `side`, lies in `side` or contains
 * it. */
bool bs_fuzz_sbpl_meets_denied(const struct bs_fuzz_sbpl *sbpl, const char *side);

/* True if `path` is `place` or lies below it. */
bool bs_fuzz_is_within(const char *path, const char *place);

#endif
