/* The rules of a policy word by word: which links of a workspace can matter to them. */
#ifndef BS_BACKEND_PLAN_RULE_WORDS_H
#define BS_BACKEND_PLAN_RULE_WORDS_H

#include <boxspec/profile.h>

struct bs_rule_words;

/* 0, or ENOMEM with *words NULL. The profile must live as long. */
int bs_rule_words_make(const struct bs_profile *profile, struct bs_rule_words **words);
void bs_rule_words_free(struct bs_rule_words *words); /* NULL is nothing to free */

/* False if each file behind the link is treated alike under its name through the link and under its
 * name without it: a rule that matches one of the two by `**` matches the other, too. So the rules
 * can tell them apart only by a word of a rule that matches a component of one of the two paths.
 * Both are relative to the root. */
bool bs_link_is_relevant(const struct bs_rule_words *words, const char *link, const char *target);

/* A rule that denies paths below this one and does not only do so by `**`, or NULL. */
const struct bs_entry *bs_rule_below(const struct bs_rule_words *words, enum bs_op op,
                                     const char *path);

#endif
