/* Rules as two tables. One reads the path from its front, the other from its end, at the same
 * time.
 *
 * The front decides a rule that begins with a literal name, the back a rule that begins with `**`
 * and ends with a name. Either walk reads few bytes until the decision. One table for both kinds
 * would read the whole path and multiply the states of both. */
#ifndef BS_POLICY_MATCH_TABLES_H
#define BS_POLICY_MATCH_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/dfa.h"
#include "policy/match/matcher.h"

struct bs_tables {
    struct bs_dfa front; /* without rows: it has no rule */
    struct bs_dfa back;
    int32_t most; /* the highest rule in them, or BS_NO_RULE */
};

/* True if a table would have to read the whole path for this rule, from either side. */
bool bs_tables_reads_all(const struct bs_pattern *pattern);

/* Adds the patterns whose `in` is true. If a table becomes too large, or if memory runs out, there
 * is no table. */
enum bs_dfa_result bs_tables_build(struct bs_tables *tables, const struct bs_pattern *patterns,
                                   size_t n, const bool *in);
void bs_tables_clear(struct bs_tables *tables);

/* Returns the highest rule that matches the path, or BS_NO_RULE. There is at least one table. */
int32_t bs_tables_highest(const struct bs_tables *tables, const char *path, size_t len);

#endif
