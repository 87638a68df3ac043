/* A policy as mounts. The tree is walked from the top; a mount is made where what is wanted of a
 * path is not what it has from the directory above. So it is exact for all that exists now, and a
 * name that is made later has what its directory has. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/internal.h"
#include "backend/plan.h"
#include "base/error.h"

/* bubblewrap takes 9,000 words, and one mount is three. */
enum { MOST_MOUNTS = 2900, MOST_LEVELS = 512 };

enum access { OPEN, READ_ONLY, HIDDEN }; /* from lax to strict */

/* A directory on the way from the root to where the walk is. */
struct level {
    enum access access; /* what is below it has this, unless it is mounted itself */
    size_t before;      /* length of the plan before this level */
    unsigned mounts;    /* the same, in mounts */
    bool guarded;       /* a bind on itself that only keeps it from being renamed */
    bool hidden_whole;  /* a directory that cannot be looked into; so far nothing below it shows */
    bool shows;         /* an empty directory of ours with what shows in it */
    char *path;
};

struct planner {
    const struct bs_profile *profile;
    const char *place;
    struct bs_buf *out;
    struct bs_backend_report *report;
    struct bs_aliases aliases;
    struct level *levels;
    size_t depth;
    unsigned mounts;
    bool root_is_writable;
    bool too_many;
    bool too_deep;
};

/* Whoever opens one for writing needs no mount that may be written to: what is read-only is hidden.
 */
static bool is_channel(const struct stat *st) {
    return S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode);
}

/* A directory is what a new name in it is. */
static enum access wanted_by_name(const struct planner *planner, const struct bs_walked *at) {
    const struct bs_profile *profile = planner->profile;
    const char *path = at->relative[0] != '\0' ? at->relative : ".";
    bool reads = bs_profile_allows(profile, BS_OP_READ, path);
    bool writes = bs_profile_allows(profile, BS_OP_MODIFY, path);
    if (S_ISDIR(at->st->st_mode)) {
        reads = reads && bs_profile_allows_new(profile, BS_OP_READ, at->relative);
        writes = bs_profile_allows_new(profile, BS_OP_MODIFY, at->relative);
    }
    writes = writes && planner->root_is_writable;
    if (!reads || (!writes && is_channel(at->st)))
        return HIDDEN;
    return writes ? OPEN : READ_ONLY;
}

static enum access wanted(const struct planner *planner, const struct bs_walked *at) {
    return (enum access)bs_aliases_strictest(&planner->aliases, at->st,
                                             wanted_by_name(planner, at));
}

static bool note_alias(void *ctx, const struct bs_walked *at) {
    struct planner *planner = ctx;
    return !bs_has_other_names(at->st) ||
           bs_aliases_add(&planner->aliases, at->st, wanted_by_name(planner, at));
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

static void mount_it(struct planner *planner, const struct bs_walked *at, enum access access) {
    char *nothing = NULL;
    if (access != HIDDEN) {
        mount_from(planner, access == OPEN ? "--bind" : "--ro-bind", at->path, at->path);
    } else if (asprintf(&nothing, "%s/%s", planner->place,
                        S_ISDIR(at->st->st_mode) ? "nothing.d" : "nothing") < 0) {
        planner->out->failed = true;
    } else {
        mount_from(planner, "--ro-bind", nothing, at->path);
        free(nothing);
    }
}

/* Something below shows: the hidden directories above must hold the way to it. */
static void show_ways(struct planner *planner) {
    for (size_t i = 0; i < planner->depth; i++) {
        struct level *level = &planner->levels[i];
        if (!level->hidden_whole)
            continue;
        level->hidden_whole = false;
        level->shows = true;
        planner->out->len = level->before; /* it was the last that was said */
        mount_new(planner, "--tmpfs", level->path);
    }
}

/* Of whatever lies in the directory that is the level before this one. */
static enum access access_above(const struct planner *planner, size_t depth) {
    if (depth > 0)
        return planner->levels[depth - 1].access;
    return planner->root_is_writable ? OPEN : READ_ONLY;
}

static bool enter(void *ctx, const struct bs_walked *at) {
    struct planner *planner = ctx;
    enum access above = access_above(planner, planner->depth);
    enum access access = wanted(planner, at);
    bool is_dir = S_ISDIR(at->st->st_mode);
    struct level level = {access, planner->out->len, planner->mounts, false, false, false, NULL};
    planner->too_many = planner->too_many || planner->mounts > MOST_MOUNTS;
    planner->too_deep = planner->too_deep || planner->depth >= MOST_LEVELS;
    if (planner->out->failed || planner->too_many || planner->too_deep)
        return false;
    /* A link is not mounted on, that would be where it leads; it is what its directory is. What is
     * read-only cannot be renamed or replaced either. */
    if (access != above && !S_ISLNK(at->st->st_mode)) {
        if (above == HIDDEN) {
            show_ways(planner);
            level.before = planner->out->len;
        }
        mount_it(planner, at, access);
        level.hidden_whole = is_dir && access == HIDDEN;
    } else if (is_dir && access == OPEN && at->relative[0] != '\0') {
        mount_from(planner, "--bind", at->path, at->path);
        level.guarded = bs_profile_allows(planner->profile, BS_OP_MODIFY, at->relative);
    }
    if (!is_dir)
        return true;
    level.path = strdup(at->path);
    if (level.path == NULL)
        return false;
    planner->levels[planner->depth++] = level;
    return true;
}

/* What lies in it is not known, and a program inside that owns it may open it. So all of it is what
 * the strictest rule says of anything: it is not there. */
static bool closed(void *ctx, const struct bs_walked *at) {
    struct planner *planner = ctx;
    struct level *level = &planner->levels[planner->depth - 1];
    enum access above = access_above(planner, planner->depth - 1);
    if (!bs_profile_denies(planner->profile, BS_OP_READ) &&
        !bs_profile_denies(planner->profile, BS_OP_MODIFY))
        return true;
    /* Read-only would do for files; a pipe in it could be written to, by a name that is known. */
    level->access = HIDDEN;
    level->guarded = level->hidden_whole = false; /* nothing below it is walked */
    /* In the place of the mount that it has by itself, which was the last. */
    planner->out->len = level->before;
    planner->mounts = level->mounts;
    if (level->access != above)
        mount_it(planner, at, level->access);
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
    /* Paths that show were mounted into an empty directory of ours. */
    if (level->shows)
        mount_new(planner, "--remount-ro", at->path);
    free(level->path);
}

int bs_mounts_add(const struct bs_profile *profile, const char *root, bool root_is_writable,
                  const char *place, int cancel, struct bs_buf *out,
                  struct bs_backend_report *report, struct bs_error *err) {
    if (!bs_profile_denies(profile, BS_OP_READ) && !bs_profile_denies(profile, BS_OP_MODIFY))
        return BS_OK;
    struct planner planner = {.profile = profile,
                              .place = place,
                              .out = out,
                              .report = report,
                              .aliases = BS_ALIASES_INIT,
                              .levels = calloc(MOST_LEVELS + 1, sizeof *planner.levels),
                              .root_is_writable = root_is_writable};
    const struct bs_walk first = {root, &planner, note_alias, NULL, NULL, cancel};
    const struct bs_walk walk = {root, &planner, enter, leave, closed, cancel};
    if (planner.levels == NULL)
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for mounts");
    int code = bs_walk_tree(&first, err);
    bs_aliases_sort(&planner.aliases);
    if (code == BS_OK)
        code = bs_walk_tree(&walk, err);
    if (planner.too_many || planner.too_deep)
        code = bs_fail(err, BS_E_EXECUTION, 0,
                       planner.too_many ? "the policy needs more than %d mounts in this workspace"
                                        : "the workspace is more than %d directories deep",
                       planner.too_many ? MOST_MOUNTS : MOST_LEVELS);
    else if (code == BS_OK && out->failed)
        code = bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for mounts");
    while (planner.depth > 0)
        free(planner.levels[--planner.depth].path);
    free(planner.levels);
    bs_aliases_clear(&planner.aliases);
    return code;
}
