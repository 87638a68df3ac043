/* The access that a policy wants of each path of a workspace, under all names of the file there: a
 * hard link is another name of a file, and so is a path that leads through a symbolic link. */
#ifndef BS_BACKEND_PLAN_ACCESS_H
#define BS_BACKEND_PLAN_ACCESS_H

#include "backend/internal.h"
#include "backend/plan/rule_words.h"
#include "backend/plan/symlink_names.h"

enum bs_access { BS_OPEN, BS_READ_ONLY, BS_HIDDEN }; /* from lax to strict */

/* Starts zeroed but for the first two; cleared once. */
struct bs_names {
    const struct bs_profile *profile;
    const struct bs_backend_context *context;
    struct bs_inner_links links;
    struct bs_aliases aliases;
    struct bs_rule_words *words;
    bool incomplete; /* names were left out: a rule may match under one of them */
};

/* Looks for all names in the workspace until `until` (bs_now_ns). 0, or a negative code. */
int bs_names_collect(struct bs_names *names, int cancel, uint64_t until, struct bs_error *err);
void bs_names_clear(struct bs_names *names);

bool bs_root_is_writable(const struct bs_backend_context *context);

/* `real` relative to the root of the context, or NULL: it lies outside. */
const char *bs_below_root(const struct bs_backend_context *context, const char *real);

/* One path, and the rules that deny it under one of its names through links, by enum bs_op. */
struct bs_wanted {
    enum bs_access access;
    const struct bs_entry *rules[2];
    /* The rule denies modifying under a name that leads through a link which can be replaced: the
     * file is held, but another one can take its place under that name. */
    const struct bs_entry *replaceable;
};

/* Never BS_OPEN where memory ran out or the policy cannot judge the path. */
struct bs_wanted bs_names_wanted(struct bs_names *names, const char *relative,
                                 const struct stat *st);

/* The rule that denies a path or, for a directory, a new name in it; NULL: no rule does. */
const struct bs_entry *bs_names_denying(const struct bs_names *names, enum bs_op op,
                                        const char *relative, bool is_dir);

#endif
