/* Judges one or two well-formed policy files by the contract. The verdict is every problem and
 * warning with its place, or the policy if there are no problems. The judge is written from
 * conformance/contracts/policy/page.md. It compares rule by rule and list by list, without an index
 * and a cache, so it is slow, but simple enough to be trusted. */
#ifndef BS_FUZZ_JUDGE_H
#define BS_FUZZ_JUDGE_H

#include "support/rule_oracle.h"

struct bs_fuzz_rules {
    struct bs_fuzz_rule *items;
    size_t n;
};

struct bs_fuzz_profile {
    const char *name;
    struct bs_fuzz_place place; /* of the key */
    bool of_workspace;
    struct bs_fuzz_rules read;
    struct bs_fuzz_rules modify;
};

struct bs_fuzz_pair {
    const char *name;
    const char *value;
};

struct bs_fuzz_pairs {
    struct bs_fuzz_pair *items;
    size_t n;
};

struct bs_fuzz_policy {
    const char *name;
    const char *description; /* NULL: none */
    struct bs_fuzz_pairs labels;
    struct bs_fuzz_pairs annotations;
    struct bs_fuzz_rules deny_read;
    struct bs_fuzz_rules deny_modify;
    struct bs_fuzz_profile *profiles;
    size_t n_profiles;
};

struct bs_fuzz_finding {
    const char *what; /* the code of a warning; for a problem a text for people */
    struct bs_fuzz_place place;
    bool of_workspace;
    bool is_doubtful; /* the contract does not say whether this must be reported */
    struct bs_fuzz_finding *next;
};

struct bs_fuzz_verdict {
    struct bs_fuzz_finding *problems; /* in any order */
    struct bs_fuzz_finding *warnings; /* set only if there are no problems */
    struct bs_fuzz_policy policy;     /* set only if there are no problems */
};

/* Judge the files. `workspace` is NULL if there is only one file. The pool owns the memory of the
 * verdict. */
void bs_fuzz_judge(const struct bs_fuzz_node *global, const struct bs_fuzz_node *workspace,
                   struct bs_fuzz_pool *pool, struct bs_fuzz_verdict *verdict);

#endif
