/* Finds changes of paths that a rule denies to modify, by comparing two snapshots. The snapshots
 * have the change time of each file, because programs can set its access and modification time, but
 * not its change time. */
#define _GNU_SOURCE
#include "backend/plan/scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/plan/walk.h"
#include "backend/session/report.h"
#include "base/error.h"
#include "base/list.h"
#include "base/sys.h"

struct denied_path {
    char *path;
    char *rule;
    struct stat st;
};

struct bs_snapshot {
    struct denied_path *list;
    size_t n;
    size_t cap;
    const struct bs_profile *profile;
};

static bool add_path(struct bs_snapshot *snapshot, const char *path, const char *rule,
                     const struct stat *st) {
    struct denied_path *list =
        bs_list_room(snapshot->list, snapshot->n, &snapshot->cap, sizeof *list);
    if (list == NULL)
        return false;
    snapshot->list = list;
    struct denied_path *entry = &list[snapshot->n++];
    *entry = (struct denied_path){strdup(path), strdup(rule), *st};
    return entry->path != NULL && entry->rule != NULL;
}

static bool add_if_denied(void *ctx, const struct bs_walk_entry *at) {
    struct bs_snapshot *snapshot = ctx;
    struct bs_decision decision;
    if (at->relative[0] == '\0')
        return true;
    int code = bs_profile_check(snapshot->profile, BS_OP_MODIFY, at->relative, strlen(at->relative),
                                &decision, NULL);
    if (code == BS_E_EXECUTION)
        return false;
    /* A path that the policy refuses counts as denied. */
    if (code != BS_OK)
        return add_path(snapshot, at->relative, "<path refused by the policy>", at->st);
    bool good = decision.allowed || add_path(snapshot, at->relative, decision.matched_rule, at->st);
    bs_decision_clear(&decision);
    return good;
}

/* Make a directory that cannot be listed an entry of the snapshot, because it may hide changes. It
 * is a violation if the directory becomes unreadable or readable between the snapshots. */
static bool add_unreadable(void *ctx, const struct bs_walk_entry *at) {
    char *path = NULL;
    if (asprintf(&path, "%s/", at->relative) < 0)
        return false;
    bool good = add_path(ctx, path, "<directory cannot be listed>", at->st);
    free(path);
    return good;
}

static int by_path(const void *a, const void *b) {
    const struct denied_path *x = a;
    const struct denied_path *y = b;
    return strcmp(x->path, y->path);
}

void bs_snapshot_free(struct bs_snapshot *snapshot) {
    for (size_t i = 0; snapshot != NULL && i < snapshot->n; i++) {
        free(snapshot->list[i].path);
        free(snapshot->list[i].rule);
    }
    if (snapshot != NULL)
        free(snapshot->list);
    free(snapshot);
}

int bs_snapshot_take(const struct bs_profile *profile, const char *root, int cancel, uint64_t until,
                     struct bs_snapshot **snapshot, struct bs_error *err) {
    bool cut = false;
    *snapshot = NULL;
    struct bs_snapshot *made = calloc(1, sizeof *made);
    if (made == NULL) {
        (void)bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a scan");
        return BS_E_EXECUTION;
    }
    made->profile = profile;
    const struct bs_walk walk = {.root = root,
                                 .ctx = made,
                                 .enter = add_if_denied,
                                 .unreadable = add_unreadable,
                                 .cancel = cancel,
                                 .cut = until != BS_NEVER ? &cut : NULL,
                                 .until = until};
    int code = bs_walk_tree(&walk, err);
    if (code != BS_OK || cut) {
        bs_snapshot_free(made);
        return code;
    }
    if (made->n > 0)
        qsort(made->list, made->n, sizeof *made->list, by_path);
    *snapshot = made;
    return BS_OK;
}

static bool same_time(struct timespec a, struct timespec b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* True if nothing in the metadata shows a change. The size and times of a directory are not
 * compared, because its entries are compared as paths of their own. */
static bool unchanged(const struct stat *a, const struct stat *b) {
    if (a->st_dev != b->st_dev || a->st_ino != b->st_ino || a->st_mode != b->st_mode)
        return false;
    return S_ISDIR(a->st_mode) || (a->st_size == b->st_size && same_time(a->st_mtim, b->st_mtim) &&
                                   same_time(a->st_ctim, b->st_ctim));
}

int bs_snapshot_compare(const struct bs_snapshot *before, const char *root,
                        struct bs_backend_report *report, struct bs_error *err) {
    struct bs_snapshot *now = NULL;
    int code = bs_snapshot_take(before->profile, root, -1, BS_NEVER, &now, err);
    if (code != BS_OK)
        return code;
    bool good = true;
    for (size_t i = 0, j = 0; good && (i < before->n || j < now->n);) {
        const struct denied_path *was = i < before->n ? &before->list[i] : NULL;
        const struct denied_path *is = j < now->n ? &now->list[j] : NULL;
        int cmp = was == NULL ? 1 : is == NULL ? -1 : strcmp(was->path, is->path);
        if (cmp < 0)
            good = bs_report_violation(report, root, was->path, was->rule);
        else if (is != NULL && (cmp > 0 || was == NULL || !unchanged(&was->st, &is->st)))
            good = bs_report_violation(report, root, is->path, is->rule);
        i += cmp <= 0;
        j += cmp >= 0;
    }
    bs_snapshot_free(now);
    return good ? BS_OK : bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a scan");
}
