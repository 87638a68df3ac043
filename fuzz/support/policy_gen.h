/* Makes policies from the bytes of an input, and paths that are related to their rules. The
 * policies are trees, which support/policy_text.h writes as files.
 *
 * Rules use few names, and half of them derive from earlier rules (above, below, equal, negated,
 * spelled differently). Otherwise rules would hardly ever cover, repeat or except each other. Most
 * policies are valid. In one of eight the shape or a rule may be wrong, and the judge
 * (support/judge.h) finds out what is wrong. */
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
    struct bs_fuzz_text rules[BS_GEN_MOST_RULES]; /* all rule bodies of the case so far */
    size_t n_rules;
    struct bs_fuzz_text denies[BS_GEN_MOST_RULES]; /* the denies among these rules, of both lists */
    size_t n_denies;
    struct bs_fuzz_text exceptions[BS_GEN_MOST_RULES];
    size_t n_exceptions;
    const char *profiles[BS_GEN_MOST_PROFILES];
    size_t n_profiles;
    bool flawed;       /* this case may have errors */
    bool crowded;      /* profiles have so many rules that the library uses other code for them */
    bool long_named;   /* rules may be longer than the matcher's inline buffer */
    bool is_workspace; /* the current policy is a workspace's */
};

/* Begin a case. Its policies are made in order, because the second one derives rules from the
 * first. */
void bs_gen_policies_begin(struct bs_gen_policies *gen, struct bs_fuzz_provider *from,
                           struct bs_fuzz_pool *pool);
struct bs_fuzz_node *bs_gen_policy(struct bs_gen_policies *gen);

/* Return the name of a profile, which probably exists, or NULL to name none. */
const char *bs_gen_profile_name(struct bs_gen_policies *gen);

/* Return a path in some spelling. Half of the paths derive from the rules. A path may be
 * invalid. */
struct bs_fuzz_text bs_gen_path(struct bs_gen_policies *gen);

/* Return another spelling of the same path. `path` is in normal form. */
struct bs_fuzz_text bs_gen_respelled(struct bs_gen_policies *gen, struct bs_fuzz_text path);

/* Return a valid rule body without `!`, usually in normal form. */
struct bs_fuzz_text bs_gen_rule_body(struct bs_gen_policies *gen);

/* Return a path that the rule matches, or a path that differs from such a path by a single
 * character. */
struct bs_fuzz_text bs_gen_instance(struct bs_gen_policies *gen, struct bs_fuzz_text rule);

/* Return the prefix that a body needs so that it is not read as negated: `front` or an escape. */
const char *bs_gen_shielded(struct bs_fuzz_text body, const char *front);

bool bs_gen_is_subtree(struct bs_fuzz_text rule);

#endif
