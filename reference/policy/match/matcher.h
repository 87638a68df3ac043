/* All rules of one list at once: the highest rule that matches a path.
 *
 * The rules are compiled ahead of time into an immutable object that any number of threads may
 * share. README.md explains the three tiers, which work side by side:
 *
 *   tables     two transition tables, one read from the front of the path and one from its end,
 *              while they are small. This is an ordinary policy of some dozen rules.
 *   index      hash tables of literal parts of the rules, for any number of rules.
 *   automaton  a bit for each state of each rule. It takes every rule, up to 131,072 states.
 *
 * Nothing is built while a path is looked at: a cache that threads share would need locks, and one
 * for each thread would be as large as they are many. The budget counts states, bytes and steps and
 * never looks at a clock. So the same rules always end in the same tiers, or in the error that
 * names the rule at which the budget ended.
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
#define BS_NO_MEMORY (-2)

struct bs_matcher;

struct bs_matcher_facts {
    const char *tier; /* the first that has rules: "tables", "tables+index", "index", "automaton" */
    size_t bytes;     /* that the object holds */
    size_t states;
};

/* The patterns are copied as far as they are needed. 0, BS_E_INVALID when the budget is exceeded
 * (the message names the rule that it broke at), BS_E_EXECUTION when memory ran out. */
int bs_matcher_compile(const struct bs_pattern *patterns, size_t n, bool fold,
                       struct bs_matcher **out, struct bs_error *err);
void bs_matcher_free(struct bs_matcher *matcher); /* NULL is nothing to free */

enum bs_tier {
    BS_TIER_TABLES,     /* as bs_matcher_compile: tables if they stay small, else an index */
    BS_TIER_INDEX,      /* an index at once */
    BS_TIER_LEAST_WORK, /* an index and never a table: for a list that few paths are asked of */
    BS_TIER_AUTOMATON   /* the automaton alone */
};

/* The same for who does not want the first tier. */
int bs_matcher_compile_from(enum bs_tier tier, const struct bs_pattern *patterns, size_t n,
                            bool fold, struct bs_matcher **out, struct bs_error *err);

/* The index of the highest pattern that matches the path, BS_NO_RULE, or BS_NO_MEMORY. The path is
 * normalised (boxspec/path.h); the root is `.`. Memory is needed only to fold a path of more than
 * BS_FOLD_STACK_BYTES. */
ptrdiff_t bs_matcher_highest(const struct bs_matcher *matcher, const char *path, size_t len);
/* The same of a path whose separators may be known already. */
ptrdiff_t bs_matcher_highest_seen(const struct bs_matcher *matcher,
                                  const struct bs_path_view *path);

struct bs_matcher_facts bs_matcher_facts(const struct bs_matcher *matcher);

#endif
