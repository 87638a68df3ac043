/* A policy of version 2 that is being written, and notes on the parts that did not fit. */
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
    struct bs_profile_rules shared; /* of rules that belong to no named profile */
    struct bs_buf notes;            /* comment lines */
    bool failed;                    /* memory ran out */
};

/* Adds a comment line: the place, the value there, and why it is a comment (may be NULL). */
void bs_draft_note(struct bs_draft *draft, const struct bs_node *where, const struct bs_node *what,
                   const char *why);
/* As bs_draft_note, about a text that is no node. */
void bs_draft_remark(struct bs_draft *draft, const char *where, const char *why);

/* Returns a NUL-terminated copy of a string, or NULL if memory ran out. */
const char *bs_draft_keep(struct bs_draft *draft, const struct bs_node *text);

/* Adds a rule, or each rule of a list, to every list in `lists`. Notes values that are no rule. */
void bs_draft_add(struct bs_draft *draft, struct bs_profile_rules *profile,
                  const struct bs_node *where, const struct bs_node *rules, int lists);

/* Removes the rules that version 2 refuses because of the denies, and adds the read rules that it
 * requires. */
void bs_draft_settle(struct bs_draft *draft, struct bs_profile_rules *profile);

#endif
