/* Policies out of the bytes of an input, as trees (support/policy_text.h makes files of them), and
 * paths that have something to do with their rules.
 *
 * Rules are made of few names, and half of them out of earlier ones: above, below, equal, negated,
 * spelled otherwise. Otherwise no rule would ever cover, repeat or except another. Most policies
 * are in order; now and then one is not, in its rules or in its shape, and the judge
 * (support/judge.h) says what is wrong with it.
 */
#ifndef BS_FUZZ_POLICY_GEN_H
#define BS_FUZZ_POLICY_GEN_H

#include <stdbool.h>
#include <stddef.h>

#include "support/glob_case.h"
#include "support/node.h"
#include "support/pool.h"
#include "support/provider.h"

enum { BS_GEN_MOST_RULES = 64 };

struct bs_gen_policies {
    struct bs_fuzz_provider *from;
    struct bs_fuzz_pool *pool;
    struct bs_fuzz_text rules[BS_GEN_MOST_RULES]; /* bodies so far */
    size_t n_rules;
    bool flawed; /* this case may break rules of shape, not of rules only */
};

/* Policies of one case are made one after the other: the second knows the rules of the first. */
void bs_gen_policies_begin(struct bs_gen_policies *gen, struct bs_fuzz_provider *from,
                           struct bs_fuzz_pool *pool);
struct bs_fuzz_node *bs_gen_policy(struct bs_gen_policies *gen);

/* The name of a profile that there may be; NULL: none is named. */
const char *bs_gen_profile_name(struct bs_gen_policies *gen);

/* A path half derived from the rules, in some spelling; not always one that is allowed. */
struct bs_fuzz_text bs_gen_path(struct bs_gen_policies *gen);

/* The same path spelled otherwise. `path` is in normal form. */
struct bs_fuzz_text bs_gen_respelled(struct bs_gen_policies *gen, struct bs_fuzz_text path);

/* A rule that has nothing wrong, without `!`, in normal form more often than not. */
struct bs_fuzz_text bs_gen_rule_body(struct bs_gen_policies *gen);

#endif
