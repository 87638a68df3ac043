/* What a Seatbelt profile has to say of a resolved profile: clause by clause, and path by path. */
#ifndef BS_FUZZ_SBPL_ORACLE_H
#define BS_FUZZ_SBPL_ORACLE_H

#include "support/decide_oracle.h"
#include "support/glob_case.h"
#include "support/seatbelt.h"

struct bs_fuzz_sbpl {
    const struct bs_fuzz_resolved *resolved;
    const char *root; /* without doubled and trailing slashes */
    bool folds;
    const char *const *sides; /* those that are allowed, cleaned */
    size_t n_sides;
    struct bs_fuzz_pool *pool;
};

/* NULL, or the words for what is wrong with the clauses of the rules: another number, order,
 * operation or filter, or a string that is not the very path. */
const char *bs_fuzz_sbpl_clauses(const struct bs_fuzz_sbpl *sbpl,
                                 const struct bs_seatbelt *profile);

struct bs_fuzz_sbpl_answer {
    bool writes;
    bool reads;
    bool unlinks;
    bool only_denies; /* what is allowed may be denied, too: a `?` and a character beyond ASCII */
    bool is_open;     /* not decided here */
};

/* `path` is in normal form, below the root. */
struct bs_fuzz_sbpl_answer bs_fuzz_sbpl_decide(const struct bs_fuzz_sbpl *sbpl,
                                               struct bs_fuzz_text path);

/* The absolute path of one below the root. */
const char *bs_fuzz_sbpl_absolute(const struct bs_fuzz_sbpl *sbpl, struct bs_fuzz_text path);

/* Whether a read-denied rule names a place that this directory is, holds or lies below. */
bool bs_fuzz_sbpl_meets_denied(const struct bs_fuzz_sbpl *sbpl, const char *side);

/* Whether `path` is `place` or lies below it. */
bool bs_fuzz_is_within(const char *path, const char *place);

#endif
