#define _GNU_SOURCE
#include "backend/session/report.h"

#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

static struct bs_arena *arena_of(struct bs_backend_report *report) {
    if (report->arena == NULL)
        report->arena = bs_arena_new(BS_ARENA_ROOM);
    return report->arena;
}

static const char *copy_text(struct bs_backend_report *report, const char *text) {
    struct bs_arena *arena = arena_of(report);
    return arena != NULL ? bs_arena_text(arena, text, strlen(text)) : NULL;
}

/* Return the list with room for one more element. The capacity is always a power of two. So all
 * earlier copies in the arena together are no larger than the list itself, which may have 100,000
 * elements. A list that a backend has set itself has no spare capacity. */
static void *grown(struct bs_backend_report *report, const void *list, size_t n, size_t size) {
    struct bs_arena *arena = arena_of(report);
    size_t capacity = 1;
    if (arena == NULL || n > SIZE_MAX / 4)
        return NULL;
    if ((n & (n - 1)) != 0 && bs_arena_holds(arena, list))
        return (void *)(uintptr_t)list;
    while (capacity <= n)
        capacity *= 2;
    void *next = bs_arena_zeroed(arena, capacity, size);
    if (next != NULL && n > 0)
        memcpy(next, list, n * size);
    return next;
}

static bool add_text(struct bs_backend_report *report, const char ***list, size_t *n,
                     const char *text) {
    const char **next = grown(report, *list, *n, sizeof **list);
    if (next == NULL)
        return false;
    next[*n] = copy_text(report, text);
    if (next[*n] == NULL)
        return false;
    *list = next;
    (*n)++;
    return true;
}

/* Format a text and add it to the list. The text may have any length, because it contains paths and
 * rules. */
static bool add_format(struct bs_backend_report *report, const char ***list, size_t *n,
                       const char *format, va_list args) {
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        return false;
    bool good = add_text(report, list, n, text);
    free(text);
    return good;
}

static void keep(void *entry) { (void)entry; }

void bs_backend_report_clear(struct bs_backend_report *report) {
    tdestroy(report->unenforced_tree, keep); /* the entries themselves are in the arena */
    bs_arena_free(report->arena);
    *report = (struct bs_backend_report)BS_BACKEND_REPORT_INIT;
}

bool bs_report_claim(struct bs_backend_report *report, enum bs_aspect aspect, enum bs_claim claim) {
    /* Several parts of a mechanism report what they do not enforce. Keep the worst claim. */
    if (claim > report->aspects[aspect].claim)
        report->aspects[aspect].claim = claim;
    return true;
}

bool bs_report_reason(struct bs_backend_report *report, enum bs_aspect aspect, enum bs_claim claim,
                      const char *format, ...) {
    va_list args;
    (void)bs_report_claim(report, aspect, claim);
    struct bs_aspect_claim *entry = &report->aspects[aspect];
    va_start(args, format);
    bool good = add_format(report, &entry->reasons, &entry->n_reasons, format, args);
    va_end(args);
    return good;
}

bool bs_report_warn(struct bs_backend_report *report, const char *format, ...) {
    va_list args;
    va_start(args, format);
    bool good = add_format(report, &report->warnings, &report->n_warnings, format, args);
    va_end(args);
    return good;
}

static int by_rule(const void *a, const void *b) {
    const struct bs_unenforced *x = a;
    const struct bs_unenforced *y = b;
    int order = strcmp(x->rule, y->rule);
    return order != 0 ? order : strcmp(x->why, y->why);
}

/* Build the search tree for a list that a backend has set itself. */
static bool plant_tree(struct bs_backend_report *report) {
    bool good = true;
    for (size_t i = 0; good && i < report->n_unenforced; i++)
        good = tsearch(&report->unenforced[i], &report->unenforced_tree, by_rule) != NULL;
    return good;
}

/* A search tree finds out whether an entry exists already, because a policy may have 10,000 rules.
 * After the list has grown, the tree points to the earlier copies in the arena, which have the same
 * texts. */
bool bs_report_unenforced(struct bs_backend_report *report, const char *rule, const char *why) {
    const struct bs_unenforced key = {NULL, rule, why};
    if (report->n_unenforced > 0 && report->unenforced_tree == NULL && !plant_tree(report))
        return false;
    if (tfind(&key, &report->unenforced_tree, by_rule) != NULL)
        return true;
    struct bs_unenforced *next =
        grown(report, report->unenforced, report->n_unenforced, sizeof *next);
    if (next == NULL)
        return false;
    struct bs_unenforced *one = &next[report->n_unenforced];
    one->rule = copy_text(report, rule);
    one->why = copy_text(report, why);
    if (one->rule == NULL || one->why == NULL ||
        tsearch(one, &report->unenforced_tree, by_rule) == NULL)
        return false;
    report->unenforced = next;
    report->n_unenforced++;
    return true;
}

bool bs_report_hard_link(struct bs_backend_report *report, const char *root, const char *path) {
    char *whole = NULL;
    if (asprintf(&whole, "%s/%s", root, path) < 0)
        return false;
    bool good = add_text(report, &report->hard_links, &report->n_hard_links, whole);
    free(whole);
    return good;
}

bool bs_report_violation(struct bs_backend_report *report, const char *root, const char *path,
                         const char *rule) {
    struct bs_violation *next =
        grown(report, report->violations, report->n_violations, sizeof *next);
    if (next == NULL)
        return false;
    struct bs_violation *one = &next[report->n_violations];
    char *whole = NULL;
    if (asprintf(&whole, "%s/%s", root, path) < 0)
        return false;
    *one = (struct bs_violation){copy_text(report, whole), copy_text(report, rule)};
    free(whole);
    if (one->path == NULL || one->rule == NULL)
        return false;
    report->violations = next;
    report->n_violations++;
    return true;
}

void bs_report_conclude(struct bs_backend_report *report, const struct bs_backend_context *context,
                        bool denies_reading) {
    unsigned requested = 0;
    unsigned fully = 0;
    unsigned unavailable = 0;
    for (int i = 0; i < BS_ASPECTS; i++) {
        if (!bs_context_requests(context, (enum bs_aspect)i, denies_reading))
            continue;
        requested++;
        fully += report->aspects[i].claim == BS_CLAIM_FULLY;
        unavailable += report->aspects[i].claim == BS_CLAIM_UNAVAILABLE;
    }
    report->overall = BS_CLAIM_PARTIAL;
    if (unavailable == requested)
        report->overall = BS_CLAIM_UNAVAILABLE;
    else if (fully == requested)
        report->overall = BS_CLAIM_FULLY;
}

bool bs_report_unavailable(struct bs_backend_report *report,
                           const struct bs_backend_context *context, bool denies_reading,
                           const char *why) {
    bool good = true;
    for (int i = 0; good && i < BS_ASPECTS; i++) {
        if (bs_context_requests(context, (enum bs_aspect)i, denies_reading))
            good = bs_report_reason(report, (enum bs_aspect)i, BS_CLAIM_UNAVAILABLE, "%s", why);
    }
    return good;
}

bool bs_report_merge(struct bs_backend_report *to, const struct bs_backend_report *from) {
    bool good = true;
    for (int i = 0; good && i < BS_ASPECTS; i++) {
        const struct bs_aspect_claim *claim = &from->aspects[i];
        if (claim->claim < BS_CLAIM_PARTIAL)
            continue;
        (void)bs_report_claim(to, (enum bs_aspect)i, BS_CLAIM_PARTIAL);
        if (to->overall == BS_CLAIM_FULLY)
            to->overall = BS_CLAIM_PARTIAL;
        for (size_t j = 0; good && j < claim->n_reasons; j++)
            good =
                add_text(to, &to->aspects[i].reasons, &to->aspects[i].n_reasons, claim->reasons[j]);
    }
    for (size_t i = 0; good && i < from->n_unenforced; i++)
        good = bs_report_unenforced(to, from->unenforced[i].rule, from->unenforced[i].why);
    for (size_t i = 0; good && i < from->n_warnings; i++)
        good = bs_report_warn(to, "%s", from->warnings[i]);
    for (size_t i = 0; good && i < from->n_hard_links; i++)
        good = add_text(to, &to->hard_links, &to->n_hard_links, from->hard_links[i]);
    return good;
}

bool bs_report_withdraw(struct bs_backend_report *report, const char *why) {
    bool good = true;
    for (int i = 0; good && i < BS_ASPECTS; i++) {
        struct bs_aspect_claim *claim = &report->aspects[i];
        if (claim->claim == BS_NOT_REQUESTED)
            continue;
        claim->n_reasons = 0;
        good = bs_report_reason(report, (enum bs_aspect)i, BS_CLAIM_UNAVAILABLE, "%s", why);
    }
    report->overall = BS_CLAIM_UNAVAILABLE;
    return good;
}
