/* The rules of a policy, split into words. They tell which links of a workspace matter to the
 * policy. */
#ifndef BS_BACKEND_PLAN_RULE_WORDS_H
#define BS_BACKEND_PLAN_RULE_WORDS_H

#include <boxspec/profile.h>

struct bs_rule_words;

/* Split the rules. Returns 0, or ENOMEM with *words NULL. The profile must outlive *words. */
int bs_rule_words_make(const struct bs_profile *profile, struct bs_rule_words **words);
void bs_rule_words_free(struct bs_rule_words *words); /* NULL is ignored */

/* False if the policy decides alike about each file below the link, whether the path goes through
 * the link or not. If a rule matches one of these two paths only by `**`, it also matches the
 * other. So the decisions can differ only if another word of a rule matches a component of one of
 * the two paths. `link` and `target` are relative to the root. */
bool bs_link_is_relevant(const struct bs_rule_words *words, const char *link, const char *target);

/* Return a rule that denies paths below `path` by other words than `**`, or NULL. */
const struct bs_entry *bs_rule_below(const struct bs_rule_words *words, enum bs_op op,
                                     const char *path);

#endif
