/* Rules as two tables: one is read from the front of a path, the other from its end, both at once.
 *
 * What begins with a literal name is told from the front, and `**` with a name behind from the end:
 * either way few bytes are read until nothing is left to decide. One table for both would read the
 * whole path, and would multiply the states of the ones with those of the others.
 */
#ifndef BS_POLICY_MATCH_TABLES_H
#define BS_POLICY_MATCH_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/dfa.h"
#include "policy/match/matcher.h"

struct bs_tables {
    struct bs_dfa front; /* without rows: no rule is told from there */
    struct bs_dfa back;
    int32_t most; /* the highest rule in them, or BS_NO_RULE */
};

/* Beginning and end say nothing: the whole path must be read for it. */
bool bs_tables_reads_all(const struct bs_pattern *pattern);

/* Of the patterns whose `in` is true. When a table becomes too large, or memory runs out, there is
 * none. */
enum bs_dfa_result bs_tables_build(struct bs_tables *tables, const struct bs_pattern *patterns,
                                   size_t n, const bool *in);
void bs_tables_clear(struct bs_tables *tables);

/* The highest rule in the tables, of which there is one, that matches the path, or BS_NO_RULE. */
int32_t bs_tables_highest(const struct bs_tables *tables, const char *path, size_t len);

#endif
