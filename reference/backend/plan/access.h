/* The access that a policy requires of each path of a workspace, under all names of its file. A
 * hard link is another name of a file, and so is a path through a symbolic link. */
#ifndef BS_BACKEND_PLAN_ACCESS_H
#define BS_BACKEND_PLAN_ACCESS_H

#include "backend/plan/aliases.h"
#include "backend/plan/rule_words.h"
#include "backend/plan/symlink_names.h"

enum bs_access { BS_OPEN, BS_READ_ONLY, BS_HIDDEN }; /* a larger one is stricter */

/* Set the first two fields, zero the rest. */
struct bs_names {
    const struct bs_profile *profile;
    const struct bs_backend_context *context;
    struct bs_inner_links links;
    struct bs_aliases aliases;
    struct bs_rule_words *words;
    bool incomplete; /* some names are missing, and a rule may match one of them */
};

/* Collects the names of all files. At `until` (of bs_now_ns) it stops and sets `incomplete`.
 * Returns 0 or a negative code. Clear *names in both cases. */
int bs_names_collect(struct bs_names *names, int cancel, uint64_t until, struct bs_error *err);
void bs_names_clear(struct bs_names *names);

bool bs_root_is_writable(const struct bs_backend_context *context);

/* Returns `real` relative to the root of the context, or NULL if it lies outside. */
const char *bs_below_root(const struct bs_backend_context *context, const char *real);

/* The required access of a path. */
struct bs_path_access {
    enum bs_access access;
    const struct bs_entry *rules[2]; /* deny the path under a name through links; by enum bs_op */
    /* This rule denies to modify a name that leads through a replaceable link: the file itself is
     * protected, but a program can put another file in its place under that name. */
    const struct bs_entry *replaceable;
};

/* Not BS_OPEN if memory ran out or the policy refuses the path. */
struct bs_path_access bs_names_access(struct bs_names *names, const char *relative,
                                      const struct stat *st);

/* Returns the rule that denies the path or, for a directory, a new file in it; or NULL. */
const struct bs_entry *bs_names_denying(const struct bs_names *names, enum bs_op op,
                                        const char *relative, bool is_dir);

#endif
