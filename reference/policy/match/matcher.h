/* All rules of one list at once: the highest rule that matches a path.
 *
 * The rules are compiled ahead of time into an immutable object that any number of threads may
 * share. README.md explains the three tiers, which work together:
 *
 *   tables     two transition tables, one read from the front of the path and one from its end,
 *              while they are small. This is an ordinary policy of some dozen rules.
 *   index      hash tables of literal parts of the rules, for any number of rules.
 *   automaton  a bit for each state of each rule. It takes every rule, up to 131,072 states.
 *
 * A check builds nothing: a shared cache would need locks, and a cache for each thread would grow
 * with the number of threads. The budget counts states, bytes and steps, never time. So the same
 * rules always get the same tiers, or the error that names the rule which exceeds the budget.
 */
#ifndef BS_POLICY_MATCH_MATCHER_H
#define BS_POLICY_MATCH_MATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <boxspec/error.h>

#include "policy/path/path.h"

/* The body of a rule in its normal form (policy/path/rule.h): no `!`, no `.` segments, no run of
 * more than two stars; `.` is the root. Valid UTF-8, without NUL. */
struct bs_pattern {
    const char *text;
    size_t len;
};

#define BS_NO_RULE (-1)
#define BS_NO_MEMORY (-2)

struct bs_matcher;

struct bs_matcher_facts {
    const char *tier; /* the first that has rules: "tables", "tables+index", "index", "automaton" */
    size_t bytes;     /* memory of the object */
    size_t states;
};

/* Copies the patterns as far as it needs them. Returns 0, BS_E_INVALID if the budget is exceeded
 * (the message names the rule that exceeds it), or BS_E_EXECUTION if memory ran out. */
int bs_matcher_compile(const struct bs_pattern *patterns, size_t n, bool fold,
                       struct bs_matcher **out, struct bs_error *err);
void bs_matcher_free(struct bs_matcher *matcher); /* or NULL */

enum bs_tier {
    BS_TIER_TABLES,     /* as bs_matcher_compile: tables if they stay small, else an index */
    BS_TIER_INDEX,      /* an index, tables only for the rules without a key */
    BS_TIER_LEAST_WORK, /* an index and no table: for a list that few paths are matched with */
    BS_TIER_AUTOMATON   /* only the automaton */
};

/* As bs_matcher_compile, from another tier on. */
int bs_matcher_compile_from(enum bs_tier tier, const struct bs_pattern *patterns, size_t n,
                            bool fold, struct bs_matcher **out, struct bs_error *err);

/* Returns the index of the highest pattern that matches the path, BS_NO_RULE, or BS_NO_MEMORY. The
 * path is in normal form (boxspec/path.h); the root is `.`. Only folding a path of more than
 * BS_FOLD_STACK_BYTES allocates. */
ptrdiff_t bs_matcher_highest(const struct bs_matcher *matcher, const char *path, size_t len);
/* As bs_matcher_highest, for a path whose separators may be known. */
ptrdiff_t bs_matcher_highest_view(const struct bs_matcher *matcher,
                                  const struct bs_path_view *path);

struct bs_matcher_facts bs_matcher_facts(const struct bs_matcher *matcher);

#endif
