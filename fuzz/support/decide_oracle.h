/* Decides a policy query rule by rule with the glob oracle: the last rule that matches decides.
 * Nothing is compiled or kept between queries, so that the code is simple enough to be trusted. */
#ifndef BS_FUZZ_DECIDE_ORACLE_H
#define BS_FUZZ_DECIDE_ORACLE_H

#include "support/judge.h"

enum bs_fuzz_sign { BS_FUZZ_ALLOWS, BS_FUZZ_DENIES, BS_FUZZ_ASKS_OWN };

struct bs_fuzz_entry {
    const struct bs_fuzz_rule *rule;
    enum bs_fuzz_sign sign;
    bool is_own; /* from the profile and not from the global denies */
};

struct bs_fuzz_list {
    struct bs_fuzz_entry *entries;
    size_t n;
};

struct bs_fuzz_resolved {
    const char *name;
    bool synthesized;
    struct bs_fuzz_list read;
    struct bs_fuzz_list modify;
};

/* Resolve the profile `name`; NULL stands for `unrestricted`. Returns false if there is no such
 * profile. */
bool bs_fuzz_resolve(const struct bs_fuzz_policy *policy, const char *name,
                     struct bs_fuzz_pool *pool, struct bs_fuzz_resolved *resolved);

struct bs_fuzz_answer {
    bool allowed;
    const char *matched_rule;
    ptrdiff_t deciding; /* index of the deciding entry, or -1 */
};

/* Turn ASCII capitals into small letters in place, because a case-insensitive file system compares
 * texts in this way. Returns false if a text has other characters, because this oracle does not
 * know how such characters compare. */
bool bs_fuzz_lower(char *text);
bool bs_fuzz_lower_list(const struct bs_fuzz_list *list, struct bs_fuzz_pool *pool,
                        struct bs_fuzz_list *lowered);

/* Decide about `path`, which is in normal form. */
struct bs_fuzz_answer bs_fuzz_decide(const struct bs_fuzz_list *list, const char *path, size_t len,
                                     struct bs_fuzz_pool *pool);

#endif
