/* All rules of one list at once: the highest rule that matches a path.
 *
 * Compiled ahead of time into an immutable object that any number of threads may share; a look-up
 * allocates nothing. Three tiers, and why each is there:
 *
 *   dfa    Two tables, one read from the front of the path and one from its end
 * (policy/match/tables.h), while each is at most 128 KiB and takes little work to build. This is
 * every ordinary policy of some dozen rules: few bytes are read until nothing is left to decide. A
 *          hundred rules can make a table explode. What a table must read the whole path for
 *          (a name between two `**`) is put in a trie beside it.
 *   trie   A trie of segments, for any number of rules: a path costs what its segments cost. Rules
 *          whose `**` is no segment (`a**b`) are kept beside it as tables or an automaton.
 *   rules  One bit-parallel automaton: path x states / 64 steps, whatever the rules are. It takes
 *          what none of the others can, up to 131,072 states (bytes of globs, roughly).
 *
 * Nothing is built lazily: a cache that threads share needs locks, and one that they do not share
 * is as large as they are many. The budget counts states, bytes and steps and never looks at a
 * clock, so the same rules end the same way everywhere: in a tier, or in an error that names the
 * rule at which the budget ended.
 */
#ifndef BS_POLICY_MATCH_MATCHER_H
#define BS_POLICY_MATCH_MATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <boxspec/error.h>

#include "policy/path/path.h"

/* The body of a rule in its normal form (policy/path/rule.h): no `!`, no `.` segments, runs of
 * three and more stars read as two; `.` is the root. Valid UTF-8, without NUL. */
struct bs_pattern {
    const char *text;
    size_t len;
};

#define BS_NO_RULE (-1)

struct bs_matcher;

struct bs_matcher_facts {
    const char *tier; /* "dfa", "dfa+trie", "trie" or "rules" */
    size_t bytes;     /* that the object holds */
    size_t states;
};

/* The patterns are copied as far as they are needed. 0, BS_E_INVALID when the budget is exceeded
 * (the message names the rule that it broke at), BS_E_EXECUTION when memory ran out. */
int bs_matcher_compile(const struct bs_pattern *patterns, size_t n, bool fold,
                       struct bs_matcher **out, struct bs_error *err);
void bs_matcher_free(struct bs_matcher *matcher);

/* The index of the highest pattern that matches the path, or BS_NO_RULE. The path is normalised
 * (boxspec/path.h); the root is `.`. */
ptrdiff_t bs_matcher_highest(const struct bs_matcher *matcher, const char *path, size_t len);
ptrdiff_t bs_matcher_highest_seen(const struct bs_matcher *matcher,
                                  const struct bs_path_view *path);

struct bs_matcher_facts bs_matcher_facts(const struct bs_matcher *matcher);

#endif
