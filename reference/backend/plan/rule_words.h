/* The rules of a policy, split into words: they tell which links of a workspace matter. */
#ifndef BS_BACKEND_PLAN_RULE_WORDS_H
#define BS_BACKEND_PLAN_RULE_WORDS_H

#include <boxspec/profile.h>

struct bs_rule_words;

/* Returns 0, or ENOMEM with *words NULL. The profile must outlive *words. */
int bs_rule_words_make(const struct bs_profile *profile, struct bs_rule_words **words);
void bs_rule_words_free(struct bs_rule_words *words); /* or NULL */

/* False if the policy treats each file below the link alike under its name with the link and
 * without it. A rule that matches one of the two names by `**` matches the other one as well. So
 * they can differ only if a word of a rule matches a component of one of the two paths. Both paths
 * are relative to the root. */
bool bs_link_is_relevant(const struct bs_rule_words *words, const char *link, const char *target);

/* Returns a rule that denies paths below this one by more than `**`, or NULL. */
const struct bs_entry *bs_rule_below(const struct bs_rule_words *words, enum bs_op op,
                                     const char *path);

#endif
