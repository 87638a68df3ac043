/* Policies out of the bytes of an input, as trees (support/policy_text.h makes files of them), and
 * paths that have something to do with their rules.
 *
 * Rules are made of few names, and half of them out of earlier ones: above, below, equal, negated,
 * spelled otherwise; or no rule would ever cover, repeat or except another. Most policies are in
 * order; of every eighth the shape or a rule may not be, and the judge (support/judge.h) says what
 * is wrong with it.
 */
#ifndef BS_FUZZ_POLICY_GEN_H
#define BS_FUZZ_POLICY_GEN_H

#include <stdbool.h>
#include <stddef.h>

#include "support/glob_case.h"
#include "support/node.h"
#include "support/pool.h"
#include "support/provider.h"

enum { BS_GEN_MOST_RULES = 64, BS_GEN_MOST_PROFILES = 8 };

struct bs_gen_policies {
    struct bs_fuzz_provider *from;
    struct bs_fuzz_pool *pool;
    struct bs_fuzz_text rules[BS_GEN_MOST_RULES]; /* bodies so far */
    size_t n_rules;
    struct bs_fuzz_text denies[BS_GEN_MOST_RULES]; /* those of them that deny, by both lists */
    size_t n_denies;
    struct bs_fuzz_text exceptions[BS_GEN_MOST_RULES];
    size_t n_exceptions;
    const char *profiles[BS_GEN_MOST_PROFILES];
    size_t n_profiles;
    bool flawed;       /* something may be wrong with this case */
    bool crowded;      /* its profiles have many rules, which are matched by other means */
    bool long_named;   /* its rules may be longer than what is held in place */
    bool is_workspace; /* of the policy that is being made */
};

/* Policies of one case are made one after the other: the second knows the rules of the first. */
void bs_gen_policies_begin(struct bs_gen_policies *gen, struct bs_fuzz_provider *from,
                           struct bs_fuzz_pool *pool);
struct bs_fuzz_node *bs_gen_policy(struct bs_gen_policies *gen);

/* The name of a profile that there probably is; NULL: none is named. */
const char *bs_gen_profile_name(struct bs_gen_policies *gen);

/* A path half derived from the rules, in some spelling; not always one that is allowed. */
struct bs_fuzz_text bs_gen_path(struct bs_gen_policies *gen);

/* The same path spelled otherwise. `path` is in normal form. */
struct bs_fuzz_text bs_gen_respelled(struct bs_gen_policies *gen, struct bs_fuzz_text path);

/* A rule that has nothing wrong, without `!`, in normal form more often than not. */
struct bs_fuzz_text bs_gen_rule_body(struct bs_gen_policies *gen);

/* A path that the rule matches, or one a character away. */
struct bs_fuzz_text bs_gen_instance(struct bs_gen_policies *gen, struct bs_fuzz_text rule);

/* What has to stand in front of a body so that it is not read as negated: `front` or a shield. */
const char *bs_gen_shielded(struct bs_fuzz_text body, const char *front);

bool bs_gen_is_subtree(struct bs_fuzz_text rule);

#endif
