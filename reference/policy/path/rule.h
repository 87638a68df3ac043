/* Rules: their normal form, and questions about their structure.
 *
 * The body of a rule in its normal form has neither `!` nor `.` segments nor doubled or trailing
 * separators, and no run of more than two stars; `.` is the root. Bodies are valid UTF-8 without
 * NUL. No function allocates, except bs_rule_put. */
#ifndef BS_POLICY_PATH_RULE_H
#define BS_POLICY_PATH_RULE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Brings a body to its normal form, in place; it never grows. A leading `!` is an ordinary
 * character here. 0, or BS_E_INVALID with a message for people in *problem (static); the text is
 * then of no more use. */
int bs_rule_body_normalize(char *text, size_t *len, const char **problem);

/* The same for a whole rule: one leading `!` is taken off and reported in *negated, the body moves
 * to the front of text. */
int bs_rule_parse(char *text, size_t *len, bool *negated, const char **problem);

/* True if the texts show that `cover` matches every path that `rule` matches: they are equal, or
 * cover is `**`, or cover is a subtree and the rule is its top or lies below it. Both are bodies
 * in normal form. */
bool bs_rule_covers(const char *cover, size_t cover_len, const char *rule, size_t rule_len);

/* Returns the length of the top of a subtree: of a body that ends in a slash and two stars, the
 * text before them. 0 for every other body, also for `**`. */
static inline size_t bs_rule_subtree(const char *body, size_t len) {
    return len > 3 && body[len - 3] == '/' && body[len - 2] == '*' && body[len - 1] == '*' ? len - 3
                                                                                           : 0;
}

bool bs_rule_has_wildcards(const char *body, size_t len);

/* Appends a spelling that parses to this rule. It shields the characters that the parser would
 * drop or misread: `./!x`, `./ x`, `x /`. */
void bs_rule_put(struct bs_buf *out, const char *body, size_t len, bool negated);

#endif
