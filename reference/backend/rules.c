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

enum found { FOUND, FOUND_DIR, ABSENT, CLOSED, LINK };

/* A link anywhere on the way leads elsewhere, and can be exchanged for something else. */
static enum found look(const char *root, const char *path, size_t len) {
    char *whole = NULL;
    enum found found = FOUND;
    if (asprintf(&whole, "%s/%.*s", root, (int)len, path) < 0)
        return ABSENT;
    for (char *slash = whole + strlen(root); found == FOUND && slash != NULL;) {
        struct stat st;
        slash = strchr(slash + 1, '/');
        if (slash != NULL)
            *slash = '\0';
        /* What may not be looked into is held whole. */
        if (lstat(whole, &st) != 0)
            found = errno == EACCES ? CLOSED : ABSENT;
        else if (S_ISLNK(st.st_mode))
            found = LINK;
        else if (slash == NULL && S_ISDIR(st.st_mode))
            found = FOUND_DIR;
        if (slash != NULL)
            *slash = '/';
    }
    free(whole);
    return found;
}

/* A mount that is read-only is so for all that lies below it. */
static bool is_open_below(const struct bs_profile *profile, const char *path, size_t len) {
    char *dir = strndup(path, len);
    bool open = dir == NULL || bs_profile_allows_new(profile, BS_OP_MODIFY, dir);
    free(dir);
    return open;
}

static const char *why_not_mounted(const struct bs_profile *profile, enum bs_op op,
                                   const struct bs_entry *entry, const char *root) {
    if (strcmp(entry->rule, "**") == 0)
        return NULL;
    bool tree = false;
    size_t len = bs_literal_of(entry->rule, &tree);
    if (len == 0)
        return "names that are made later cannot be mounted over; what exists at the start is held";
    if (root == NULL)
        return NULL;
    switch (look(root, entry->rule, len)) {
    case ABSENT:
        return "it does not exist at the start, and nothing is made to mount on";
    case LINK:
        return "it is a link or lies behind one, which cannot be mounted on";
    case FOUND_DIR:
        return op == BS_OP_MODIFY && !tree && is_open_below(profile, entry->rule, len)
                   ? "what lies in the directory may be modified, and so can its own mode and times"
                   : NULL;
    default:
        return NULL;
    }
}

/* A rule that allows by a pattern says of names that are made later what no mount can say: they
 * have what their directory has. */
static const char *why_not_exact(const struct bs_entry *entry) {
    bool tree = false;
    bool exact = strcmp(entry->rule, "**") == 0 || bs_literal_of(entry->rule, &tree) > 0;
    return exact ? NULL : "names that are made later have what their directory has";
}

/* The rule as the policy has it, with its `!`. */
static bool add(struct bs_backend_report *report, const struct bs_entry *entry, const char *why) {
    char *text = NULL;
    bool own = entry->origin == BS_ENTRY_PROFILE;
    if (asprintf(&text, "%s%s", own == entry->negated ? "!" : "", entry->rule) < 0)
        return false;
    bool good = bs_report_unenforced(report, text, why);
    free(text);
    return good;
}

bool bs_rules_of_mounts(const struct bs_profile *profile, const char *root, bool root_is_writable,
                        struct bs_backend_report *report, unsigned counts[2]) {
    counts[0] = counts[1] = 0;
    for (int op = BS_OP_READ; profile != NULL && op <= BS_OP_MODIFY; op++) {
        size_t n = 0;
        const struct bs_entry *entries = bs_profile_entries(profile, (enum bs_op)op, &n);
        bool everything = false; /* is allowed by the rules so far: another one adds nothing */
        if (op == BS_OP_MODIFY && !root_is_writable)
            continue;
        for (size_t i = 0; i < n; i++) {
            const char *why = entries[i].negated
                                  ? why_not_mounted(profile, (enum bs_op)op, &entries[i], root)
                              : everything ? NULL
                                           : why_not_exact(&entries[i]);
            everything = !entries[i].negated && (everything || strcmp(entries[i].rule, "**") == 0);
            if (why == NULL)
                continue;
            counts[op]++;
            if (!add(report, &entries[i], why))
                return false;
        }
    }
    return true;
}

bool bs_rules_of_grants(const struct bs_profile *profile, bool root_is_writable,
                        struct bs_backend_report *report, unsigned counts[2]) {
    static const char *const why[] = {
        "Landlock leaves reading open, and cannot take away from what it grants",
        "Landlock cannot take away from what it grants"};
    counts[0] = counts[1] = 0;
    for (int op = BS_OP_READ; profile != NULL && op <= BS_OP_MODIFY; op++) {
        size_t n = 0;
        const struct bs_entry *entries = bs_profile_entries(profile, (enum bs_op)op, &n);
        if (op == BS_OP_MODIFY && !root_is_writable)
            continue;
        for (size_t i = 0; i < n; i++) {
            if (!entries[i].negated)
                continue;
            counts[op]++;
            if (!add(report, &entries[i], why[op]))
                return false;
        }
        /* Writing is granted by rule; reading is not, so what no rule allows is open, too. */
        if (op == BS_OP_READ && counts[op] == 0 && bs_profile_denies(profile, BS_OP_READ)) {
            counts[op]++;
            if (!bs_report_unenforced(report, BS_NO_MATCHING_RULE, why[op]))
                return false;
        }
    }
    return true;
}
