/* Which rules of a policy a mechanism does not hold, and why: in words, by rule. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/internal.h"

size_t bs_literal_of(const char *rule, bool *tree) {
    size_t len = strlen(rule);
    *tree = len > 3 && strcmp(rule + len - 3, "/**") == 0;
    if (*tree)
        len -= 3;
    /* No other letter has a meaning in a rule. */
    return strcspn(rule, "*?") < len ? 0 : len;
}

enum found { FOUND, FOUND_DIR, ABSENT };

/* A rule that leads through a link is looked up where it leads; the mounts hold it there. */
static enum found look(const char *root, const char *path, size_t len) {
    char *whole = NULL;
    struct stat st;
    enum found found = FOUND;
    if (asprintf(&whole, "%s/%.*s", root, (int)len, path) < 0)
        return ABSENT;
    if (lstat(whole, &st) == 0)
        found = S_ISDIR(st.st_mode) ? FOUND_DIR : FOUND;
    else if (errno != EACCES) /* a directory that cannot be looked into is hidden whole */
        found = ABSENT;
    free(whole);
    return found;
}

/* A mount that is read-only is so for every path below it. */
static bool is_open_below(const struct bs_profile *profile, const char *path, size_t len) {
    char *dir = strndup(path, len);
    bool open = dir == NULL || bs_profile_allows_new(profile, BS_OP_MODIFY, dir);
    free(dir);
    return open;
}

/* Why a rule does not hold; `late`: because of names that do not exist at the start. */
struct lack {
    const char *why; /* NULL: the rule holds */
    bool late;
};

/* What keeps a rule from being a mount in any workspace. */
static struct lack lack_anywhere(const struct bs_entry *entry, bool everything_is_allowed) {
    bool tree = false;
    if (strcmp(entry->rule, "**") == 0 || bs_literal_of(entry->rule, &tree) > 0)
        return (struct lack){NULL, false};
    if (entry->negated)
        return (struct lack){"names that are made later cannot be mounted over; what exists at the "
                             "start is held",
                             true};
    /* A rule that allows by a pattern adds nothing to one that allows everything. */
    return everything_is_allowed
               ? (struct lack){NULL, false}
               : (struct lack){"names that are made later have what their directory has", true};
}

/* What keeps a rule on one path from being a mount in this workspace. */
static struct lack lack_here(const struct bs_profile *profile, enum bs_op op,
                             const struct bs_entry *entry, const char *root) {
    bool tree = false;
    size_t len = bs_literal_of(entry->rule, &tree);
    if (!entry->negated || len == 0)
        return (struct lack){NULL, false};
    switch (look(root, entry->rule, len)) {
    case ABSENT:
        return (struct lack){"it does not exist at the start, and nothing is made to mount on",
                             true};
    case FOUND_DIR:
        if (op == BS_OP_MODIFY && !tree && is_open_below(profile, entry->rule, len))
            return (struct lack){"what lies in the directory may be modified, and so can its own "
                                 "mode and times",
                                 false};
        break;
    case FOUND:
        break;
    }
    return (struct lack){NULL, false};
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
                        const char *root, struct bs_backend_report *report,
                        struct bs_rules_lacking *lacking) {
    *lacking = (struct bs_rules_lacking){{0, 0}, {0, 0}};
    for (int op = BS_OP_READ; profile != NULL && op <= BS_OP_MODIFY; op++) {
        size_t n = 0;
        const struct bs_entry *entries = bs_profile_entries(profile, (enum bs_op)op, &n);
        bool everything = false; /* is allowed by the rules so far */
        if (op == BS_OP_MODIFY && context->confine == BS_CONFINE_READ_ONLY)
            continue;
        for (size_t i = 0; i < n; i++) {
            struct lack lack = root == NULL ? lack_anywhere(&entries[i], everything)
                                            : lack_here(profile, (enum bs_op)op, &entries[i], root);
            everything = !entries[i].negated && (everything || strcmp(entries[i].rule, "**") == 0);
            if (lack.why == NULL)
                continue;
            lacking->named[op]++;
            lacking->counted[op] += !(lack.late && context->accept_late_names);
            if (!bs_report_entry(report, &entries[i], lack.why))
                return false;
        }
    }
    return true;
}

bool bs_rules_of_grants(const struct bs_profile *profile, const struct bs_backend_context *context,
                        struct bs_backend_report *report, struct bs_rules_lacking *lacking) {
    static const char *const why[] = {
        "Landlock leaves reading open, and cannot take away from what it grants",
        "Landlock cannot take away from what it grants"};
    *lacking = (struct bs_rules_lacking){{0, 0}, {0, 0}};
    for (int op = BS_OP_READ; profile != NULL && op <= BS_OP_MODIFY; op++) {
        size_t n = 0;
        const struct bs_entry *entries = bs_profile_entries(profile, (enum bs_op)op, &n);
        if (op == BS_OP_MODIFY && context->confine == BS_CONFINE_READ_ONLY)
            continue;
        for (size_t i = 0; i < n; i++) {
            if (!entries[i].negated)
                continue;
            lacking->named[op] = ++lacking->counted[op];
            if (!bs_report_entry(report, &entries[i], why[op]))
                return false;
        }
        /* Writing is granted by rule; reading is not, so what no rule allows is open, too. */
        if (op == BS_OP_READ && lacking->named[op] == 0 && bs_profile_denies(profile, BS_OP_READ)) {
            lacking->named[op] = ++lacking->counted[op];
            if (!bs_report_unenforced(report, BS_NO_MATCHING_RULE, why[op]))
                return false;
        }
    }
    return true;
}
