#define _GNU_SOURCE
#include "backend/plan/hard_links.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/plan/aliases.h"
#include "backend/plan/mounted_names.h"
#include "backend/plan/profile.h"
#include "backend/plan/walk.h"
#include "backend/session/context.h"
#include "backend/session/report.h"
#include "base/error.h"
#include "base/list.h"
#include "base/sys.h"

struct name {
    char *path; /* relative to the root */
    struct stat st;
    /* this name is also found under an earlier path, because a mount shows it twice */
    bool repeats;
};

struct names {
    struct name *list;
    size_t n;
    size_t cap;
    unsigned long unreadable; /* directories that could not be listed */
};

static bool add_name(void *ctx, const struct bs_walk_entry *at) {
    struct names *names = ctx;
    if (!bs_has_other_names(at->st))
        return true;
    struct name *list = bs_list_room(names->list, names->n, &names->cap, sizeof *list);
    if (list == NULL)
        return false;
    names->list = list;
    struct name *name = &list[names->n];
    *name = (struct name){strdup(at->relative), *at->st, false};
    names->n += name->path != NULL;
    return name->path != NULL;
}

static bool count_unreadable(void *ctx, const struct bs_walk_entry *at) {
    struct names *names = ctx;
    (void)at;
    names->unreadable++;
    return true;
}

/* Set `repeats` if a mount in the root gives the name another path that is earlier in the order of
 * bytes. So each name is counted once, by the first of its paths. Returns false if memory ran
 * out. */
static bool note_repeat(struct name *name, const char *root,
                        const struct bs_mounted_name *mounted) {
    char *path = NULL;
    char *other = NULL;
    bool is_dir = false;
    if (asprintf(&path, "%s/%s", strcmp(root, "/") == 0 ? "" : root, name->path) < 0)
        return false;
    bool good = bs_mounted_name_of(mounted, path, &other, &is_dir);
    name->repeats |= other != NULL && strcmp(other, path) < 0;
    free(other);
    free(path);
    return good;
}

static bool note_repeats(struct names *names, const char *root,
                         const struct bs_mounted_names *mounted, uint64_t until, bool *cut) {
    for (size_t j = 0; j < mounted->n; j++) {
        if (!bs_is_below(mounted->list[j].other, root))
            continue;
        for (size_t i = 0; i < names->n && !*cut; i++) {
            *cut = bs_now_ns() >= until;
            if (!note_repeat(&names->list[i], root, &mounted->list[j]))
                return false;
        }
    }
    return true;
}

static int by_file(const void *a, const void *b) {
    const struct name *x = a;
    const struct name *y = b;
    if (x->st.st_dev != y->st.st_dev)
        return x->st.st_dev < y->st.st_dev ? -1 : 1;
    if (x->st.st_ino != y->st.st_ino)
        return x->st.st_ino < y->st.st_ino ? -1 : 1;
    return strcmp(x->path, y->path);
}

static bool is_same_file(const struct name *x, const struct name *y) {
    return x->st.st_dev == y->st.st_dev && x->st.st_ino == y->st.st_ino;
}

/* True if the policy decides in the same way about all names. A name that the policy refuses counts
 * as denied. */
static bool treated_alike(const struct bs_profile *profile, const struct name *list, size_t n) {
    bool alike = true;
    for (int op = BS_OP_READ; profile != NULL && op <= BS_OP_MODIFY; op++) {
        size_t allowed = 0;
        for (size_t i = 0; i < n; i++)
            allowed += bs_profile_allows(profile, (enum bs_op)op, list[i].path);
        alike = alike && (allowed == 0 || allowed == n);
    }
    return alike;
}

/* Report all names of a file if it has further names outside of the root, or if the policy treats
 * its names differently. */
static bool report_names(const struct names *names, const char *root,
                         const struct bs_profile *profile, struct bs_backend_report *report) {
    for (size_t i = 0; i < names->n;) {
        size_t end = i;
        size_t counted = 0;
        for (; end < names->n && is_same_file(&names->list[end], &names->list[i]); end++)
            counted += !names->list[end].repeats;
        bool elsewhere = names->list[i].st.st_nlink > counted ||
                         !treated_alike(profile, &names->list[i], end - i);
        for (; i < end; i++) {
            if (elsewhere && !bs_report_hard_link(report, root, names->list[i].path))
                return false;
        }
    }
    return true;
}

/* Report the files of all names. Returns false if memory ran out. */
static bool report_files(struct names *names, const char *root, const struct bs_profile *profile,
                         uint64_t until, bool *cut, struct bs_backend_report *report) {
    struct bs_mounted_names mounted = {NULL, 0, 0};
    char buf[128];
    int os_error = bs_mounted_names_find(root, &mounted);
    bool good = os_error == 0;
    if (os_error != 0 && os_error != ENOMEM)
        good = bs_report_warn(report, "hard links: the list of mounts cannot be read: %s",
                              bs_os_message(os_error, buf, sizeof buf));
    good = good && note_repeats(names, root, &mounted, until, cut);
    bs_mounted_names_clear(&mounted);
    if (!good)
        return false;
    qsort(names->list, names->n, sizeof *names->list, by_file);
    return report_names(names, root, profile, report);
}

static bool warn(const struct names *names, bool cut, struct bs_backend_report *report) {
    bool good = !cut || bs_report_warn(report, "the workspace is too large to be searched for hard "
                                               "links: some are not reported");
    return good && (names->unreadable == 0 ||
                    bs_report_warn(report, "hard links: %lu directories could not be listed",
                                   names->unreadable));
}

int bs_hard_links_report(const char *root, const struct bs_profile *profile, int cancel,
                         uint64_t until, struct bs_backend_report *report, struct bs_error *err) {
    struct names names = {.n = 0};
    bool cut = false;
    const struct bs_walk walk = {.root = root,
                                 .ctx = &names,
                                 .enter = add_name,
                                 .unreadable = count_unreadable,
                                 .cancel = cancel,
                                 .cut = &cut,
                                 .until = until};
    int code = bs_walk_tree(&walk, err);
    bool good =
        code != BS_OK || names.n == 0 || report_files(&names, root, profile, until, &cut, report);
    if (code == BS_OK && !(good && warn(&names, cut, report)))
        code = bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for hard links");
    for (size_t i = 0; i < names.n; i++)
        free(names.list[i].path);
    free(names.list);
    return code;
}
