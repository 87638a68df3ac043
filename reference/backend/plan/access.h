/* Computes the access that a policy requires of each path of a workspace. All names of a file
 * count: its hard links, and paths that lead to it through symbolic links or mounts. */
#ifndef BS_BACKEND_PLAN_ACCESS_H
#define BS_BACKEND_PLAN_ACCESS_H

#include "backend/plan/aliases.h"
#include "backend/plan/mounted_names.h"
#include "backend/plan/rule_words.h"
#include "backend/plan/symlink_names.h"

enum bs_access { BS_OPEN, BS_READ_ONLY, BS_HIDDEN }; /* ordered: a larger value is stricter */

/* All names of the files in a workspace. Set the first three fields and zero the rest. */
struct bs_names {
    const struct bs_profile *profile;
    const struct bs_backend_context *context;
    /* After this time (of bs_now_ns) no more names are searched, and `incomplete` is set. */
    uint64_t until;
    struct bs_inner_links links;
    struct bs_aliases aliases;
    struct bs_mounted_names mounted;
    struct bs_rule_words *words;
    bool incomplete; /* some names are unknown, and a rule may match one of them */
};

/* Collect the names of all files. Returns 0 or a negative code. Clear *names in both cases. */
int bs_names_collect(struct bs_names *names, int cancel, struct bs_error *err);
void bs_names_clear(struct bs_names *names);

bool bs_root_is_writable(const struct bs_backend_context *context);

/* Return `real` relative to the root of the context, or NULL if it lies outside. */
const char *bs_below_root(const struct bs_backend_context *context, const char *real);

/* The required access of a path, and the rules that require it. */
struct bs_path_access {
    enum bs_access access;
    /* the rules that deny a name that leads through links to the path; index: enum bs_op */
    const struct bs_entry *rules[2];
    /* a rule that denies modifying a name which leads through a link to this file. Programs can
     * replace the link, so another file can take that name, although this file is protected. */
    const struct bs_entry *replaceable;
};

/* Return the access of a path. If memory ran out or the policy refuses the path, the result is
 * stricter than BS_OPEN. */
struct bs_path_access bs_names_access(struct bs_names *names, const char *relative,
                                      const struct stat *st);

/* Set *entry to the rule that denies the path, or for a directory to a rule that denies a new file
 * in it; to NULL if there is none. Returns false if memory ran out. */
bool bs_names_denying(const struct bs_names *names, enum bs_op op, const char *relative,
                      bool is_dir, const struct bs_entry **entry);

/* The rules that deny a symbolic link, or paths below it. */
struct bs_link_denial {
    const struct bs_entry *entry; /* NULL if there is none */
    /* the rule that denies a name of the link which leads through another link that programs can
     * replace; else NULL */
    const struct bs_entry *replaceable;
};

/* Find the rules that deny the link at `relative`, under its own name or under a name that leads
 * through other links to it. Returns false if memory ran out. */
bool bs_names_denying_link(struct bs_names *names, enum bs_op op, const char *relative,
                           struct bs_link_denial *denial);

#endif
