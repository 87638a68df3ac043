/* Rules. The functions bring rules into normal form and answer questions about their structure.
 *
 * The body of a rule is the rule without a leading `!`. In its normal form it has no `.` segments,
 * no doubled or trailing separators, and at most two stars in a row. The body `.` is the root.
 * Bodies are valid UTF-8 without NUL. No function allocates memory, except bs_rule_put. */
#ifndef BS_POLICY_PATH_RULE_H
#define BS_POLICY_PATH_RULE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Bring a body into normal form, in place; the body never becomes longer. A leading `!` is an
 * ordinary character here. Returns 0, or BS_E_INVALID with a static message for people in *problem;
 * the text must not be used then. */
int bs_rule_body_normalize(char *text, size_t *len, const char **problem);

/* As bs_rule_body_normalize, for a whole rule. One leading `!` is removed, which sets *negated, and
 * the body is moved to the start of `text`. */
int bs_rule_parse(char *text, size_t *len, bool *negated, const char **problem);

/* True if the texts show that `cover` matches every path that `rule` matches: both are equal, or
 * `cover` is `**`, or `cover` is a subtree and `rule` lies in it. Both are bodies in normal
 * form. */
bool bs_rule_covers(const char *cover, size_t cover_len, const char *rule, size_t rule_len);

/* If the body is a subtree (it ends in a slash and two stars), return the length of the text before
 * that ending. Otherwise, and for `**`, return 0. */
static inline size_t bs_rule_subtree(const char *body, size_t len) {
    return len > 3 && body[len - 3] == '/' && body[len - 2] == '*' && body[len - 1] == '*' ? len - 3
                                                                                           : 0;
}

/* True if a rule was written with a separator at its end, as people write directories, but matches
 * no path below the directory. `text` is the rule as written, and `body` its normal form. */
bool bs_rule_names_folder(const char *text, size_t text_len, const char *body, size_t len);

bool bs_rule_has_wildcards(const char *body, size_t len);

/* Append the rule as it must be written in a file. Characters that the parser would drop or misread
 * are protected: `./!x`, `./ x`, `x /`. */
void bs_rule_put(struct bs_buf *out, const char *body, size_t len, bool negated);

#endif
