/* The matcher's tiers, for who does not want the first. */
#ifndef BS_POLICY_MATCH_TIERS_H
#define BS_POLICY_MATCH_TIERS_H

#include "policy/match/matcher.h"

enum bs_tier {
    BS_TIER_DFA,        /* as the matcher chooses: a table first */
    BS_TIER_TRIE,       /* a trie first, a table or an automaton for what does not fit */
    BS_TIER_LEAST_WORK, /* no table at all: for lists that will not be asked often */
    BS_TIER_RULES       /* the automaton at once */
};

/* Like bs_matcher_compile, but begins to try at this tier. */
int bs_matcher_compile_from(enum bs_tier tier, const struct bs_pattern *patterns, size_t n,
                            bool fold, struct bs_matcher **out, struct bs_error *err);

#endif
