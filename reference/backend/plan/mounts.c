/* A policy as mounts. The tree is walked from the top; a mount is made where the access that is
 * wanted of a path differs from the access that the directory above has. So the plan is exact for
 * every path that exists now, and a name that is made later has the access of its directory. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/internal.h"
#include "backend/plan/access.h"
#include "backend/plan/plan.h"
#include "base/error.h"
#include "base/sys.h"

/* bubblewrap reads the list of all mounts for each mount that it makes: 1,000 take about a second
 * at each start of a program, and 2,900, the most that fit in its 9,000 words, take ten. */
enum { MOST_MOUNTS = 1000 };

/* How long the two walks may take. A workspace that needs more is enforced in part. */
enum { NAMES_MS = 2000, MOUNTS_MS = 3000 };

/* A directory on the way from the root to the place where the walk is. */
struct level {
    enum bs_access access; /* of every name in it that has no mount of its own */
    size_t before;         /* length of the plan before this level */
    unsigned mounts;       /* number of mounts before this level */
    bool guarded;          /* a bind on itself, made only so that it cannot be renamed */
    bool hidden_whole;     /* it cannot be looked into, and so far nothing below it shows */
    bool shows;            /* an empty directory of the launcher, holding the paths that show */
    char *path;
};

struct planner {
    struct bs_names names;
    const char *place;
    struct bs_buf *out;
    struct bs_backend_report *report;
    struct level *levels;
    size_t depth;
    size_t cap_levels;
    unsigned mounts;
    bool cut;              /* the walk ended early */
    bool open[2];          /* a path that a rule denies is covered by no mount; by enum bs_op */
    unsigned long refused; /* paths that a rule allows and no mount opens */
};

static void name_rule(const struct planner *planner, const struct bs_entry *entry,
                      const char *why) {
    if (!bs_report_entry(planner->report, entry, why))
        planner->out->failed = true;
}

static void leave_open(struct planner *planner, enum bs_op op, const struct bs_entry *entry,
                       const char *why) {
    planner->open[op] = true;
    if (entry != NULL)
        name_rule(planner, entry, why);
}

/* The rule that denies a link by its own name, or paths below it. */
static const struct bs_entry *denying_link(const struct planner *planner, enum bs_op op,
                                           const struct bs_walked *at) {
    const struct bs_entry *entry = bs_names_denying(&planner->names, op, at->relative, true);
    if (entry != NULL || (op == BS_OP_MODIFY && !bs_root_is_writable(planner->names.context)))
        return entry;
    return bs_rule_below(planner->names.words, op, at->relative);
}

/* Nothing can be mounted on a link. If its target lies in the workspace, the target is covered
 * under both names; what is left open is named. */
static void look_at_link(struct planner *planner, const struct bs_walked *at,
                         enum bs_access above) {
    const struct bs_entry *reading = denying_link(planner, BS_OP_READ, at);
    const struct bs_entry *modifying = denying_link(planner, BS_OP_MODIFY, at);
    if (above == BS_HIDDEN || (reading == NULL && modifying == NULL))
        return;
    char *real = realpath(at->path, NULL);
    if (real == NULL && errno == ENOMEM)
        planner->out->failed = true;
    const struct bs_backend_context *context = planner->names.context;
    const char *why = real != NULL ? "it is a link that leads out of the workspace"
                                   : "it is a link to a path that does not exist at the start";
    bool inside = real != NULL && bs_below_root(context, real) != NULL;
    /* Programs inside can write to no other place outside. */
    bool writable =
        real == NULL || bs_is_below(context->root, real) || bs_is_granted(context, NULL, real);
    if (reading != NULL && !inside)
        leave_open(planner, BS_OP_READ, reading, why);
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

static void mount_it(struct planner *planner, const struct bs_walked *at, enum bs_access access) {
    char *nothing = NULL;
    if (access != BS_HIDDEN) {
        mount_from(planner, access == BS_OPEN ? "--bind" : "--ro-bind", at->path, at->path);
    } else if (asprintf(&nothing, "%s/%s", planner->place,
                        S_ISDIR(at->st->st_mode) ? "nothing.d" : "nothing") < 0) {
        planner->out->failed = true;
    } else {
        mount_from(planner, "--ro-bind", nothing, at->path);
        free(nothing);
    }
}

/* A path below shows, so the hidden directories above must hold the way to it. */
static void show_ways(struct planner *planner) {
    for (size_t i = 0; i < planner->depth; i++) {
        struct level *level = &planner->levels[i];
        if (!level->hidden_whole)
            continue;
        level->hidden_whole = false;
        level->shows = true;
        planner->out->len = level->before; /* its own mount is the last one of the plan */
        mount_new(planner, "--tmpfs", level->path);
    }
}

/* The access of every name in the directory at this depth. */
static enum bs_access access_above(const struct planner *planner, size_t depth) {
    if (depth > 0)
        return planner->levels[depth - 1].access;
    return bs_root_is_writable(planner->names.context) ? BS_OPEN : BS_READ_ONLY;
}

/* One step adds at most a mount of its own and two words for each directory above it. */
static bool is_full(const struct planner *planner) {
    return planner->mounts + planner->depth + 2 > MOST_MOUNTS;
}

/* No mount is left for a path that needs one. It keeps the access of its directory. */
static void leave_as_above(struct planner *planner, const struct bs_walked *at,
                           enum bs_access above, const struct bs_wanted *wanted) {
    static const char why[] = "more files match than mounts fit: some of them are open";
    bool is_dir = S_ISDIR(at->st->st_mode);
    if (wanted->access < above) {
        planner->refused++;
        return;
    }
    for (int op = BS_OP_READ; op <= BS_OP_MODIFY; op++) {
        if (op == BS_OP_READ ? wanted->access != BS_HIDDEN : above != BS_OPEN)
            continue;
        const struct bs_entry *entry =
            bs_names_denying(&planner->names, (enum bs_op)op, at->relative, is_dir);
        leave_open(planner, (enum bs_op)op, entry != NULL ? entry : wanted->rules[op], why);
    }
}

static bool push(struct planner *planner, const struct level *level) {
    if (planner->depth == planner->cap_levels) {
        size_t cap = planner->cap_levels > 0 ? planner->cap_levels * 2 : 64;
        struct level *levels = realloc(planner->levels, cap * sizeof *levels);
        if (levels == NULL)
            return false;
        planner->levels = levels;
        planner->cap_levels = cap;
    }
    planner->levels[planner->depth] = *level;
    planner->levels[planner->depth].path = strdup(level->path);
    if (planner->levels[planner->depth].path == NULL)
        return false;
    planner->depth++;
    return true;
}

static bool enter(void *ctx, const struct bs_walked *at) {
    struct planner *planner = ctx;
    enum bs_access above = access_above(planner, planner->depth);
    bool is_dir = S_ISDIR(at->st->st_mode);
    struct level level = {above, planner->out->len, planner->mounts, false, false, false, NULL};
    if (S_ISLNK(at->st->st_mode)) {
        look_at_link(planner, at, above);
        return !planner->out->failed;
    }
    struct bs_wanted wanted = bs_names_wanted(&planner->names, at->relative, at->st);
    enum bs_access access = wanted.access;
    if (wanted.replaceable != NULL)
        leave_open(planner, BS_OP_MODIFY, wanted.replaceable,
                   "its path leads through a link that can be replaced");
    if (access != above && is_full(planner)) {
        leave_as_above(planner, at, above, &wanted);
    } else if (access != above) {
        if (above == BS_HIDDEN) {
            show_ways(planner);
            level.before = planner->out->len;
        }
        mount_it(planner, at, access);
        level.access = access;
        level.hidden_whole = is_dir && access == BS_HIDDEN;
    } else if (is_dir && access == BS_OPEN && at->relative[0] != '\0' && !is_full(planner)) {
        mount_from(planner, "--bind", at->path, at->path);
        level.guarded = bs_profile_allows(planner->names.profile, BS_OP_MODIFY, at->relative);
    }
    level.path = (char *)(uintptr_t)at->path;
    return !planner->out->failed && (!is_dir || push(planner, &level));
}

/* A directory that the caller may not look into. Its owner can open it again from inside, so all of
 * it gets the strictest access. Read-only would do for files; a pipe in it could be written to
 * under a name that is known. */
static bool closed(void *ctx, const struct bs_walked *at) {
    struct planner *planner = ctx;
    struct level *level = &planner->levels[planner->depth - 1];
    enum bs_access above = access_above(planner, planner->depth - 1);
    level->access = BS_HIDDEN;
    level->guarded = level->hidden_whole = false; /* nothing below it is walked */
    /* The mount of this directory is the last one of the plan; another one takes its place. */
    planner->out->len = level->before;
    planner->mounts = level->mounts;
    if (above != BS_HIDDEN && is_full(planner)) {
        planner->names.incomplete = true; /* whatever lies in it is open */
        return true;
    }
    if (above != BS_HIDDEN)
        mount_it(planner, at, BS_HIDDEN);
    return bs_report_warn(planner->report, "`%s`: it cannot be looked into, and is hidden inside",
                          at->path);
}

static void leave(void *ctx, const struct bs_walked *at) {
    struct planner *planner = ctx;
    struct level *level = &planner->levels[--planner->depth];
    /* Nothing below it needs it to stay where it is. */
    if (level->guarded && planner->mounts == level->mounts + 1) {
        planner->out->len = level->before;
        planner->mounts = level->mounts;
    }
    /* Paths that show were mounted into an empty directory of the launcher. */
    if (level->shows)
        mount_new(planner, "--remount-ro", at->path);
    free(level->path);
}

/* Every rule may have a match that the walk did not reach. */
static void name_all(struct planner *planner) {
    static const char why[] = "the workspace is too large to be looked through: matches in the "
                              "rest of it are open";
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
                name_rule(planner, &entries[i], why);
        }
    }
}

static bool claim_less(struct planner *planner) {
    static const enum bs_aspect aspects[] = {BS_ASPECT_FS_READ, BS_ASPECT_FS_WRITE};
    static const char *const verbs[] = {"read", "modify"};
    bool good = true;
    for (int op = BS_OP_READ; good && op <= BS_OP_MODIFY; op++) {
        if (planner->open[op])
            good =
                bs_report_reason(planner->report, aspects[op], BS_CLAIM_PARTIAL,
                                 "in this workspace, rules that deny to %s do not hold", verbs[op]);
    }
    if (good && planner->refused > 0)
        good = bs_report_warn(
            planner->report,
            "%lu paths that the policy allows are refused: no more than %d mounts fit",
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
                  const char *place, int cancel, struct bs_buf *out,
                  struct bs_backend_report *report, struct bs_error *err) {
    if (!bs_profile_denies(profile, BS_OP_READ) && !bs_profile_denies(profile, BS_OP_MODIFY))
        return BS_OK;
    struct planner planner = {.names = {.profile = profile, .context = context},
                              .place = place,
                              .out = out,
                              .report = report};
    uint64_t now = bs_now_ns();
    const struct bs_walk walk = {.root = context->root,
                                 .ctx = &planner,
                                 .enter = enter,
                                 .leave = leave,
                                 .closed = closed,
                                 .cancel = cancel,
                                 .cut = &planner.cut,
                                 .until = bs_after_ms(now, NAMES_MS + MOUNTS_MS)};
    int code = bs_names_collect(&planner.names, cancel, bs_after_ms(now, NAMES_MS), err);
    if (code == BS_OK)
        code = bs_walk_tree(&walk, err);
    if (planner.names.incomplete || planner.cut)
        name_all(&planner);
    if (code == BS_OK && (out->failed || !claim_less(&planner)))
        code = bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for mounts");
    clear(&planner);
    return code;
}
