/* Turns a policy into mounts. The planner walks through the tree from the root. It adds a mount
 * where the policy requires another access than the directory above has. So the plan is exact for
 * every path that exists now. A file that is created later gets the access of its directory. */
#define _GNU_SOURCE
#include "backend/plan/mounts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/plan/access.h"
#include "backend/plan/entries.h"
#include "backend/plan/profile.h"
#include "backend/plan/rule_words.h"
#include "backend/plan/rules.h"
#include "backend/plan/walk.h"
#include "backend/session/context.h"
#include "backend/session/private_dir.h"
#include "backend/session/report.h"
#include "base/error.h"
#include "base/list.h"
#include "base/sys.h"

/* The most mounts in a plan. bubblewrap reads the list of all mounts for each mount that it makes,
 * so 1,000 mounts add about a second to each start of a program. 2,900 mounts, the most that fit in
 * the 9,000 words of its command line, add ten seconds. */
enum { MOST_MOUNTS = 1000 };

/* Time limits for collecting the names and for planning. In a workspace that takes longer, the
 * policy is enforced only partially. */
enum { NAMES_MS = 2000, MOUNTS_MS = 3000 };

/* Return the most bytes of a plan. The kernel limits the size of bubblewrap's command line, and a
 * program could make so many long paths that no program can be started any more. */
static size_t most_bytes(void) {
    enum { LEAST = 128 * 1024 }; /* what Linux always allows */
    long most = sysconf(_SC_ARG_MAX);
    return (size_t)(most > LEAST ? most : LEAST) / 2;
}

/* A directory between the root and the current path of the walk. */
struct level {
    enum bs_access access; /* access of each name in it that has no mount of its own */
    size_t before;         /* length of the plan before this level */
    unsigned mounts;       /* number of mounts before this level */
    bool guarded;          /* has a bind mount on itself only so that it cannot be renamed */
    /* the directory is hidden, and so are all paths below it that were visited so far */
    bool hidden_whole;
    /* the directory was replaced by an empty one, in which its visible paths are mounted */
    bool has_visible;
    char *path;
};

struct planner {
    struct bs_names names;
    const char *dir; /* has an empty file `nothing` and an empty directory `nothing.d` */
    struct bs_buf *out;
    struct bs_backend_report *report;
    struct level *levels;
    size_t depth;
    size_t cap_levels;
    unsigned mounts;
    size_t most_bytes;     /* of the plan */
    bool cut;              /* the walk ended before all paths were visited */
    bool open[2];          /* a denied path has no mount; the index is an enum bs_op */
    unsigned long refused; /* number of allowed paths that could not be mounted */
};

/* Why a rule is not enforced for a path with a link that programs can replace. */
static const char through_replaceable[] = "its path leads through a link that can be replaced";

static void report_rule(const struct planner *planner, const struct bs_entry *entry,
                        const char *why) {
    if (!bs_report_entry(planner->report, entry, why))
        planner->out->failed = true;
}

static void leave_open(struct planner *planner, enum bs_op op, const struct bs_entry *entry,
                       const char *why) {
    planner->open[op] = true;
    if (entry != NULL)
        report_rule(planner, entry, why);
}

static struct bs_link_denial denying_link(struct planner *planner, enum bs_op op,
                                          const struct bs_walk_entry *at) {
    struct bs_link_denial denial = {NULL, NULL};
    if (!bs_names_denying_link(&planner->names, op, at->relative, &denial))
        planner->out->failed = true;
    return denial;
}

/* Report a link that a rule denies and no mount protects. A symbolic link cannot be covered by a
 * mount. If it leads into the workspace, a mount over its target protects both names, so it is not
 * reported. */
static void report_link(struct planner *planner, const struct bs_walk_entry *at,
                        enum bs_access above) {
    const struct bs_entry *reading = denying_link(planner, BS_OP_READ, at).entry;
    struct bs_link_denial denial = denying_link(planner, BS_OP_MODIFY, at);
    const struct bs_entry *modifying = denial.entry;
    if (above == BS_HIDDEN || (reading == NULL && modifying == NULL))
        return;
    char *real = realpath(at->path, NULL);
    if (real == NULL && errno == ENOMEM)
        planner->out->failed = true;
    const struct bs_backend_context *context = planner->names.context;
    const char *why = real != NULL ? "it is a link that leads out of the workspace"
                                   : "it is a link to a path that does not exist at the start";
    bool inside = real != NULL && bs_below_root(context, real) != NULL;
    /* Programs in the sandbox cannot write to any other target outside. */
    bool writable =
        real == NULL || bs_is_below(context->root, real) || bs_is_granted(context, NULL, real);
    if (reading != NULL && !inside)
        leave_open(planner, BS_OP_READ, reading, why);
    if (denial.replaceable != NULL)
        leave_open(planner, BS_OP_MODIFY, denial.replaceable, through_replaceable);
    if (modifying != NULL && above == BS_OPEN)
        leave_open(planner, BS_OP_MODIFY, modifying, "it is a link, which can be replaced");
    else if (modifying != NULL && !inside && writable)
        leave_open(planner, BS_OP_MODIFY, modifying, why);
    free(real);
}

static void mount_new(struct planner *planner, const char *option, const char *at) {
    bs_plan_arg(planner->out, option);
    bs_plan_arg(planner->out, at);
    planner->mounts++;
}

static void mount_from(struct planner *planner, const char *option, const char *from,
                       const char *to) {
    bs_plan_arg(planner->out, option);
    bs_plan_arg(planner->out, from);
    bs_plan_arg(planner->out, to);
    planner->mounts++;
}

static void mount_nothing(struct planner *planner, bool is_dir, const char *at) {
    char *nothing = NULL;
    if (asprintf(&nothing, "%s/%s", planner->dir, is_dir ? "nothing.d" : "nothing") < 0) {
        planner->out->failed = true;
        return;
    }
    mount_from(planner, "--ro-bind", nothing, at);
    free(nothing);
}

/* Protect a denied path outside of the workspace too. Another mount may show the path, or a path
 * below it, outside. Other names inside the workspace are paths of the walk themselves. */
static void mount_outside(struct planner *planner, const char *path, enum bs_access access) {
    const struct bs_backend_context *context = planner->names.context;
    for (size_t i = 0; i < planner->names.mounted.n; i++) {
        char *other = NULL;
        bool is_dir = false;
        if (!bs_mounted_name_of(&planner->names.mounted.list[i], path, &other, &is_dir))
            planner->out->failed = true;
        /* Outside, programs in the sandbox can write only to paths that are granted. */
        bool needed = other != NULL && bs_below_root(context, other) == NULL &&
                      (access == BS_HIDDEN || bs_is_granted(context, NULL, other));
        if (needed && access == BS_HIDDEN)
            mount_nothing(planner, is_dir, other);
        else if (needed)
            mount_from(planner, "--ro-bind", other, other);
        free(other);
    }
}

static void mount_access(struct planner *planner, const struct bs_walk_entry *at,
                         enum bs_access access) {
    if (access == BS_HIDDEN)
        mount_nothing(planner, S_ISDIR(at->st->st_mode), at->path);
    else
        mount_from(planner, access == BS_OPEN ? "--bind" : "--ro-bind", at->path, at->path);
    if (access != BS_OPEN)
        mount_outside(planner, at->path, access);
}

/* The current path is visible, but directories above it are hidden. Replace each of these
 * directories by an empty one in which only the mount of the visible path appears. */
static void show_parents(struct planner *planner) {
    for (size_t i = 0; i < planner->depth; i++) {
        struct level *level = &planner->levels[i];
        if (!level->hidden_whole)
            continue;
        level->hidden_whole = false;
        level->has_visible = true;
        /* remove the mount of the directory, which is the last one of the plan */
        planner->out->len = level->before;
        mount_new(planner, "--tmpfs", level->path);
        mount_outside(planner, level->path, BS_HIDDEN);
    }
}

/* Return the access of names in the directory at this depth that have no mount of their own. */
static enum bs_access access_above(const struct planner *planner, size_t depth) {
    if (depth > 0)
        return planner->levels[depth - 1].access;
    return bs_root_is_writable(planner->names.context) ? BS_OPEN : BS_READ_ONLY;
}

/* True if the plan may have no room for the next step. A step adds at most one mount for the path
 * and one for each directory above it. Each other name that a mount gives them needs a mount
 * too. */
static bool is_full(const struct planner *planner, const struct bs_walk_entry *at) {
    enum { OPTION_AND_DIR = 1024 };
    size_t more = (planner->depth + 2) * (planner->names.mounted.n + 1);
    return planner->mounts + more > MOST_MOUNTS ||
           planner->out->len + more * (2 * strlen(at->path) + OPTION_AND_DIR) > planner->most_bytes;
}

/* Called for a path that needs a mount after the limit is reached. The path keeps the access of its
 * directory. This is reported. */
static void keep_access_above(struct planner *planner, const struct bs_walk_entry *at,
                              enum bs_access above, const struct bs_path_access *required) {
    static const char why[] = "more files match than mounts are possible: some are not protected";
    bool is_dir = S_ISDIR(at->st->st_mode);
    if (required->access < above) {
        planner->refused++;
        return;
    }
    for (int op = BS_OP_READ; op <= BS_OP_MODIFY; op++) {
        if (op == BS_OP_READ ? required->access != BS_HIDDEN : above != BS_OPEN)
            continue;
        const struct bs_entry *entry = NULL;
        if (!bs_names_denying(&planner->names, (enum bs_op)op, at->relative, is_dir, &entry))
            planner->out->failed = true;
        leave_open(planner, (enum bs_op)op, entry != NULL ? entry : required->rules[op], why);
    }
}

static bool push(struct planner *planner, const struct level *level) {
    struct level *levels =
        bs_list_room(planner->levels, planner->depth, &planner->cap_levels, sizeof *levels);
    if (levels == NULL)
        return false;
    planner->levels = levels;
    levels[planner->depth] = *level;
    levels[planner->depth].path = strdup(level->path);
    if (levels[planner->depth].path == NULL)
        return false;
    planner->depth++;
    return true;
}

static bool enter(void *ctx, const struct bs_walk_entry *at) {
    struct planner *planner = ctx;
    enum bs_access above = access_above(planner, planner->depth);
    bool is_dir = S_ISDIR(at->st->st_mode);
    struct level level = {above, planner->out->len, planner->mounts, false, false, false, NULL};
    if (S_ISLNK(at->st->st_mode)) {
        report_link(planner, at, above);
        return !planner->out->failed;
    }
    struct bs_path_access required = bs_names_access(&planner->names, at->relative, at->st);
    enum bs_access access = required.access;
    if (required.replaceable != NULL)
        leave_open(planner, BS_OP_MODIFY, required.replaceable, through_replaceable);
    if (access != above && is_full(planner, at)) {
        keep_access_above(planner, at, above, &required);
    } else if (access != above) {
        if (above == BS_HIDDEN) {
            show_parents(planner);
            level.before = planner->out->len;
        }
        mount_access(planner, at, access);
        level.access = access;
        level.hidden_whole = is_dir && access == BS_HIDDEN;
    } else if (is_dir && access == BS_OPEN && at->relative[0] != '\0' && !is_full(planner, at)) {
        mount_from(planner, "--bind", at->path, at->path);
        level.guarded = bs_profile_allows(planner->names.profile, BS_OP_MODIFY, at->relative);
    }
    level.path = (char *)(uintptr_t)at->path;
    return !planner->out->failed && (!is_dir || push(planner, &level));
}

/* The caller cannot list this directory. A program in the sandbox may own it and change its mode,
 * so the directory is hidden with all paths in it. A read-only mount would protect its files, but
 * not its named pipes: a program that knows the name of one could still write to it. */
static bool hide_unreadable(void *ctx, const struct bs_walk_entry *at) {
    struct planner *planner = ctx;
    struct level *level = &planner->levels[planner->depth - 1];
    enum bs_access above = access_above(planner, planner->depth - 1);
    level->access = BS_HIDDEN;
    /* the walk does not enter the directory, so nothing below it is visible */
    level->guarded = level->hidden_whole = false;
    /* Remove the mount of this directory, which is the last one of the plan. */
    planner->out->len = level->before;
    planner->mounts = level->mounts;
    if (above != BS_HIDDEN && is_full(planner, at)) {
        planner->names.incomplete = true; /* paths in it stay unprotected */
        return true;
    }
    if (above != BS_HIDDEN)
        mount_access(planner, at, BS_HIDDEN);
    return bs_report_warn(planner->report, "`%s`: it cannot be listed, so it is hidden inside",
                          at->path);
}

static void leave(void *ctx, const struct bs_walk_entry *at) {
    struct planner *planner = ctx;
    struct level *level = &planner->levels[--planner->depth];
    /* If no path below this directory has a mount, programs may rename the directory, so its own
     * mount is removed. */
    if (level->guarded && planner->mounts == level->mounts + 1) {
        planner->out->len = level->before;
        planner->mounts = level->mounts;
    }
    /* All visible paths are mounted in the empty directory now, so it can be made read-only. */
    if (level->has_visible)
        mount_new(planner, "--remount-ro", at->path);
    free(level->path);
}

/* Called if the walk ended early. Report every denying rule, because each may match a path that was
 * not reached. */
static void report_all(struct planner *planner) {
    static const char why[] = "the workspace is too large to be searched: matches in the rest "
                              "of it are not protected";
    for (int op = BS_OP_READ; op <= BS_OP_MODIFY; op++) {
        size_t n = 0;
        const struct bs_entry *entries =
            bs_profile_entries(planner->names.profile, (enum bs_op)op, &n);
        if (op == BS_OP_MODIFY && !bs_root_is_writable(planner->names.context))
            continue;
        if (bs_profile_denies(planner->names.profile, (enum bs_op)op))
            planner->open[op] = true;
        for (size_t i = 0; i < n; i++) {
            if (entries[i].negated)
                report_rule(planner, &entries[i], why);
        }
    }
}

static bool lower_claims(struct planner *planner) {
    static const enum bs_aspect aspects[] = {BS_ASPECT_FS_READ, BS_ASPECT_FS_WRITE};
    static const char *const verbs[] = {"reading", "modifying"};
    bool good = true;
    for (int op = BS_OP_READ; good && op <= BS_OP_MODIFY; op++) {
        if (planner->open[op])
            good = bs_report_reason(planner->report, aspects[op], BS_CLAIM_PARTIAL,
                                    "in this workspace, rules that deny %s are not enforced",
                                    verbs[op]);
    }
    if (good && planner->refused > 0)
        good = bs_report_warn(
            planner->report,
            "%lu paths that the policy allows are refused: no more than %d mounts are possible",
            planner->refused, MOST_MOUNTS);
    return good;
}

static void clear(struct planner *planner) {
    while (planner->depth > 0)
        free(planner->levels[--planner->depth].path);
    free(planner->levels);
    bs_names_clear(&planner->names);
}

int bs_mounts_add(const struct bs_profile *profile, const struct bs_backend_context *context,
                  const char *dir, int cancel, struct bs_buf *out, struct bs_backend_report *report,
                  struct bs_error *err) {
    if (!bs_profile_denies(profile, BS_OP_READ) && !bs_profile_denies(profile, BS_OP_MODIFY))
        return BS_OK;
    uint64_t now = bs_now_ns();
    struct planner planner = {
        .names = {.profile = profile, .context = context, .until = bs_after_ms(now, NAMES_MS)},
        .dir = dir,
        .most_bytes = most_bytes(),
        .out = out,
        .report = report};
    const struct bs_walk walk = {.root = context->root,
                                 .ctx = &planner,
                                 .enter = enter,
                                 .leave = leave,
                                 .unreadable = hide_unreadable,
                                 .cancel = cancel,
                                 .cut = &planner.cut,
                                 .until = bs_after_ms(now, NAMES_MS + MOUNTS_MS)};
    int code = bs_names_collect(&planner.names, cancel, err);
    planner.names.until = walk.until;
    if (code == BS_OK)
        code = bs_walk_tree(&walk, err);
    if (planner.names.incomplete || planner.cut)
        report_all(&planner);
    if (code == BS_OK && (out->failed || !lower_claims(&planner)))
        code = bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for mounts");
    clear(&planner);
    return code;
}
