/* Matches rules by two tables. One reads the path from its front, the other from its end, at the
 * same time.
 *
 * A rule that begins with a literal name is in the front table; a rule that begins with `**` and
 * ends with a name is in the back table. So each table reads only few bytes before it can decide. A
 * single table for both kinds of rules would read the whole path, and its number of states would be
 * the product of the numbers of the two tables. */
#ifndef BS_POLICY_MATCH_TABLES_H
#define BS_POLICY_MATCH_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/dfa.h"
#include "policy/match/matcher.h"

struct bs_tables {
    struct bs_dfa front; /* has no rows if it has no rule */
    struct bs_dfa back;
    int32_t most; /* highest rule of both tables, or BS_NO_RULE */
};

/* True if a table would have to read the whole path for this rule, from the front and from the
 * end. */
bool bs_tables_reads_all(const struct bs_pattern *pattern);

/* Build the tables of the patterns whose `in` is true. If a table becomes too large, or if memory
 * runs out, neither table is built. */
enum bs_dfa_result bs_tables_build(struct bs_tables *tables, const struct bs_pattern *patterns,
                                   size_t n, const bool *in);
void bs_tables_clear(struct bs_tables *tables);

/* Return the highest rule that matches the path, or BS_NO_RULE. At least one table must exist. */
int32_t bs_tables_highest(const struct bs_tables *tables, const char *path, size_t len);

#endif
