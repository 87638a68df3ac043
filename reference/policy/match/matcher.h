/* Matches a path with all rules of a list at once, and returns the highest rule that matches.
 *
 * The rules are compiled in advance into a matcher that never changes, so any number of threads may
 * share it. A matcher has up to three parts, called tiers, which work together (README.md explains
 * them):
 *
 * tables     two transition tables; one is read from the front of the path and one from its end.
 * They are used while they are small. This is an ordinary policy of some dozen rules.
 *   index      hash tables of literal parts of the rules, for any number of rules
 *   automaton  one bit for each state of each rule, up to 131,072 states; it accepts every rule
 *
 * A check builds no data: a shared cache would need locks, and a cache for each thread would grow
 * with the number of threads. The budget counts states, bytes and steps, never time. So the same
 * rules always get the same tiers, or the same error, which names the rule that exceeds the
 * budget. */
#ifndef BS_POLICY_MATCH_MATCHER_H
#define BS_POLICY_MATCH_MATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <boxspec/error.h>

#include "policy/path/path.h"

/* The body of a rule in its normal form (policy/path/rule.h): without `!`, without `.` segments,
 * with at most two stars in a row. The body `.` is the root. Valid UTF-8, without NUL. */
struct bs_pattern {
    const char *text;
    size_t len;
};

#define BS_NO_RULE (-1)
#define BS_NO_MEMORY (-2)

struct bs_matcher;

struct bs_matcher_facts {
    /* the first tiers that have rules: "tables", "tables+index", "index" or "automaton" */
    const char *tier;
    size_t bytes; /* memory that the matcher uses */
    size_t states;
};

/* Compile patterns. The caller may free them afterwards. Returns 0, BS_E_INVALID if the rules
 * exceed the budget (the message names the first rule that does), or BS_E_EXECUTION if memory ran
 * out. */
int bs_matcher_compile(const struct bs_pattern *patterns, size_t n, bool fold,
                       struct bs_matcher **out, struct bs_error *err);
void bs_matcher_free(struct bs_matcher *matcher); /* NULL is ignored */

enum bs_tier {
    BS_TIER_TABLES,     /* as bs_matcher_compile does: tables if they stay small, else an index */
    BS_TIER_INDEX,      /* an index; tables only for the rules without a key */
    BS_TIER_LEAST_WORK, /* an index without tables, for a list that is used for few paths */
    BS_TIER_AUTOMATON   /* only an automaton */
};

/* As bs_matcher_compile, but skips the tiers before `tier`. */
int bs_matcher_compile_from(enum bs_tier tier, const struct bs_pattern *patterns, size_t n,
                            bool fold, struct bs_matcher **out, struct bs_error *err);

/* Return the index of the highest pattern that matches the path, or BS_NO_RULE, or BS_NO_MEMORY.
 * The path is in normal form (boxspec/path.h); the root is `.`. Memory is allocated only to fold a
 * path of more than BS_FOLD_STACK_BYTES. */
ptrdiff_t bs_matcher_highest(const struct bs_matcher *matcher, const char *path, size_t len);
/* As bs_matcher_highest, for a path in which the separators may have been found already. */
ptrdiff_t bs_matcher_highest_view(const struct bs_matcher *matcher,
                                  const struct bs_path_view *path);

struct bs_matcher_facts bs_matcher_facts(const struct bs_matcher *matcher);

#endif
