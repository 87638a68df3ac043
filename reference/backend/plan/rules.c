/* Finds the rules of a policy that a mechanism does not enforce, each with the reason. */
#define _GNU_SOURCE
#include "backend/plan/rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/plan/profile.h"
#include "backend/session/context.h"
#include "backend/session/report.h"

size_t bs_rule_literal(const char *rule, bool *tree) {
    size_t len = strlen(rule);
    *tree = len > 3 && strcmp(rule + len - 3, "/**") == 0;
    if (*tree)
        len -= 3;
    /* The part without the `**` at the end must have no wildcard; no other character is special in
     * a rule. */
    return strcspn(rule, "*?") < len ? 0 : len;
}

enum found { FOUND, FOUND_DIR, ABSENT };

/* Find the path of a rule in the workspace. Links above the last component are followed, because
 * the mounts enforce the rule at the place where the links lead. */
static enum found look_up(const char *path) {
    struct stat st;
    if (lstat(path, &st) == 0)
        return S_ISDIR(st.st_mode) ? FOUND_DIR : FOUND;
    /* EACCES is not a failure: a directory that cannot be read is hidden completely */
    return errno == EACCES ? FOUND : ABSENT;
}

/* True if no mount protects this path, which a rule denies. A process outside may have created it
 * after the mounts were planned. Links that lead out of the root are reported with the mounts. */
static bool is_missed(const struct bs_planned *planned, enum bs_op op, const char *root,
                      const char *path) {
    char *real = realpath(path, NULL);
    const char *file = real != NULL ? real : path;
    enum bs_access access = bs_planned_access(planned, file);
    bool missed =
        bs_is_below(file, root) && (op == BS_OP_READ ? access != BS_HIDDEN : access == BS_OPEN);
    free(real);
    return missed;
}

/* True if new files in the directory may be modified. If they may not, the directory has a
 * read-only mount, which protects all paths below it. */
static bool is_open_below(const struct bs_profile *profile, const char *path, size_t len) {
    char *dir = strndup(path, len);
    bool open = dir == NULL || bs_profile_may_allow_new(profile, BS_OP_MODIFY, dir);
    free(dir);
    return open;
}

/* The reason why a rule is not enforced. */
struct reason {
    const char *why; /* NULL if the rule is enforced */
    /* true if the rule is only unenforced for names that do not exist at the start */
    bool late;
};

/* Return the reason why mounts cannot enforce this rule in any workspace. */
static struct reason reason_anywhere(const struct bs_entry *entry, bool allows_everything) {
    bool tree = false;
    if (strcmp(entry->rule, "**") == 0 || bs_rule_literal(entry->rule, &tree) > 0)
        return (struct reason){NULL, false};
    if (entry->negated)
        return (struct reason){"a mount cannot cover a name that is made later; paths that exist "
                               "at the start are protected",
                               true};
    /* If an earlier rule allows all paths, an allow with a wildcard has no effect, so it needs no
     * mount. */
    return allows_everything
               ? (struct reason){NULL, false}
               : (struct reason){"a name that is made later has the access of its directory", true};
}

/* Return the reason why the planned mounts do not enforce this rule in this workspace. The rule
 * must name one path, without wildcards. */
static struct reason reason_here(const struct bs_profile *profile, enum bs_op op,
                                 const struct bs_entry *entry, const char *root,
                                 const struct bs_planned *planned) {
    static const struct reason absent = {
        "it does not exist at the start, so there is no file to mount on", true};
    bool tree = false;
    size_t len = bs_rule_literal(entry->rule, &tree);
    struct reason reason = {NULL, false};
    if (!entry->negated || len == 0)
        return reason;
    char *path = NULL;
    if (asprintf(&path, "%s/%.*s", root, (int)len, entry->rule) < 0)
        return absent;
    const char *relative = path + strlen(root) + 1;
    enum found found = look_up(path);
    if (found == ABSENT)
        reason = absent;
    else if (found == FOUND_DIR && op == BS_OP_MODIFY && !tree &&
             is_open_below(profile, relative, len))
        reason = (struct reason){"files in the directory may be modified, and so may its own mode "
                                 "and times",
                                 false};
    /* a later rule may allow the path again */
    else if (!bs_profile_allows(profile, op, relative) && is_missed(planned, op, root, path))
        reason = (struct reason){"no mount protects it", false};
    free(path);
    return reason;
}

bool bs_report_entry(struct bs_backend_report *report, const struct bs_entry *entry,
                     const char *why) {
    char *text = NULL;
    bool own = entry->origin == BS_ENTRY_PROFILE;
    if (asprintf(&text, "%s%s", own == entry->negated ? "!" : "", entry->rule) < 0)
        return false;
    bool good = bs_report_unenforced(report, text, why);
    free(text);
    return good;
}

bool bs_rules_of_mounts(const struct bs_profile *profile, const struct bs_backend_context *context,
                        const struct bs_planned *planned, struct bs_backend_report *report,
                        struct bs_unenforced_rules *unenforced) {
    *unenforced = (struct bs_unenforced_rules){{0, 0}, {0, 0}};
    for (int op = BS_OP_READ; profile != NULL && op <= BS_OP_MODIFY; op++) {
        size_t n = 0;
        const struct bs_entry *entries = bs_profile_entries(profile, (enum bs_op)op, &n);
        bool everything = false; /* one of the rules so far allows all paths */
        if (op == BS_OP_MODIFY && context->confine == BS_CONFINE_READ_ONLY)
            continue;
        for (size_t i = 0; i < n; i++) {
            struct reason reason =
                planned == NULL
                    ? reason_anywhere(&entries[i], everything)
                    : reason_here(profile, (enum bs_op)op, &entries[i], context->root, planned);
            everything = !entries[i].negated && (everything || strcmp(entries[i].rule, "**") == 0);
            if (reason.why == NULL)
                continue;
            unenforced->reported[op]++;
            unenforced->partial[op] += !(reason.late && context->accept_late_names);
            if (!bs_report_entry(report, &entries[i], reason.why))
                return false;
        }
    }
    return true;
}

bool bs_rules_of_grants(const struct bs_profile *profile, const struct bs_backend_context *context,
                        struct bs_backend_report *report, struct bs_unenforced_rules *unenforced) {
    static const char *const why[] = {
        "Landlock does not restrict reading, and cannot deny a part of a grant",
        "Landlock cannot deny a part of a grant"};
    *unenforced = (struct bs_unenforced_rules){{0, 0}, {0, 0}};
    for (int op = BS_OP_READ; profile != NULL && op <= BS_OP_MODIFY; op++) {
        size_t n = 0;
        const struct bs_entry *entries = bs_profile_entries(profile, (enum bs_op)op, &n);
        if (op == BS_OP_MODIFY && context->confine == BS_CONFINE_READ_ONLY)
            continue;
        for (size_t i = 0; i < n; i++) {
            if (!entries[i].negated)
                continue;
            unenforced->reported[op] = ++unenforced->partial[op];
            if (!bs_report_entry(report, &entries[i], why[op]))
                return false;
        }
        /* Landlock does not restrict reading. So a path can be read even if no rule allows it, and
         * this is reported too. */
        if (op == BS_OP_READ && unenforced->reported[op] == 0 &&
            bs_profile_denies(profile, BS_OP_READ)) {
            unenforced->reported[op] = ++unenforced->partial[op];
            if (!bs_report_unenforced(report, BS_NO_MATCHING_RULE, why[op]))
                return false;
        }
    }
    return true;
}
