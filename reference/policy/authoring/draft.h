/* A policy of version 2 that is being written. Parts of version 1 that do not fit become
 * comments. */
#ifndef BS_POLICY_AUTHORING_DRAFT_H
#define BS_POLICY_AUTHORING_DRAFT_H

#include <stdbool.h>

#include "base/buf.h"
#include "policy/file/node.h"
#include "policy/model.h"

enum bs_draft_list {
    BS_DRAFT_READ = 1,
    BS_DRAFT_MODIFY = 2,
    BS_DRAFT_DENY_READ = 4,
    BS_DRAFT_DENY_MODIFY = 8
};

struct bs_draft {
    struct bs_policy policy;
    /* rules that belong to no named profile, so every profile gets them */
    struct bs_profile_rules shared;
    struct bs_buf notes; /* the comment lines */
    bool failed;         /* memory ran out */
};

/* Add a comment line: the place, the value at that place, and the reason why it is only a comment.
 * The reason may be NULL. */
void bs_draft_note(struct bs_draft *draft, const struct bs_node *where, const struct bs_node *what,
                   const char *why);
/* As bs_draft_note, about a place that has no node in the tree. */
void bs_draft_remark(struct bs_draft *draft, const char *where, const char *why);

/* Return a NUL-terminated copy of a string, or NULL if memory ran out. */
const char *bs_draft_keep(struct bs_draft *draft, const struct bs_node *text);

/* Add a rule, or each rule of a list, to every list in `lists`. A value that is not a rule becomes
 * a comment. */
void bs_draft_add(struct bs_draft *draft, struct bs_profile_rules *profile,
                  const struct bs_node *where, const struct bs_node *rules, int lists);

/* Remove the rules that version 2 would refuse because a deny equals or covers them. Add the read
 * rules that version 2 requires for modify rules. */
void bs_draft_settle(struct bs_draft *draft, struct bs_profile_rules *profile);

#endif
