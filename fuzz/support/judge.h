/* What the contract says of one or two well-formed policy files: every problem and every warning
 * with its place, and the policy where there is no problem. Written from the words of
 * conformance/contracts/policy/page.md, rule against rule and list against list, with no index and
 * no cache: slow and plain, so that it can be trusted. */
#ifndef BS_FUZZ_JUDGE_H
#define BS_FUZZ_JUDGE_H

#include "support/rule_oracle.h"

struct bs_fuzz_rules {
    struct bs_fuzz_rule *items;
    size_t n;
};

struct bs_fuzz_profile {
    const char *name;
    struct bs_fuzz_place place; /* of the name */
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
    const char *what; /* of a warning its code, of a problem words for people */
    struct bs_fuzz_place place;
    bool of_workspace;
    bool is_doubtful; /* the contract leaves open whether it is said */
    struct bs_fuzz_finding *next;
};

struct bs_fuzz_verdict {
    struct bs_fuzz_finding *problems; /* in no order */
    struct bs_fuzz_finding *warnings; /* only where there is no problem */
    struct bs_fuzz_policy policy;     /* the same */
};

/* `workspace` is NULL where there is one file. The verdict lives in the pool. */
void bs_fuzz_judge(const struct bs_fuzz_node *global, const struct bs_fuzz_node *workspace,
                   struct bs_fuzz_pool *pool, struct bs_fuzz_verdict *verdict);

#endif
