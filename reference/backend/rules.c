/* Which rules of a policy a mechanism does not hold, and why: in words, by rule. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/internal.h"

/* The path that a rule names, where it names one: `a/b`, and `a/b` of `a/b/`**. Its length, or 0.
 */
static size_t literal(const char *rule, size_t len) {
    if (len > 3 && strcmp(rule + len - 3, "/**") == 0)
        len -= 3;
    for (size_t i = 0; i < len; i++) {
        if (strchr("*?[]{}\\", rule[i]) != NULL)
            return 0;
    }
    return len;
}

enum found { FOUND, ABSENT, CLOSED, LINK };

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
        if (slash != NULL)
            *slash = '/';
    }
    free(whole);
    return found;
}

static const char *why_not_mounted(const struct bs_entry *entry, const char *root) {
    if (strcmp(entry->rule, "**") == 0)
        return NULL;
    size_t len = literal(entry->rule, entry->rule_len);
    if (len == 0)
        return "names that are made later cannot be mounted over; what exists at the start is held";
    if (root == NULL)
        return NULL;
    switch (look(root, entry->rule, len)) {
    case ABSENT:
        return "it does not exist at the start, and nothing is made to mount on";
    case LINK:
        return "it is a link or lies behind one, which cannot be mounted on";
    default:
        return NULL;
    }
}

/* The rule as the policy has it, with its `!`. */
static bool add(struct bs_backend_report *report, const struct bs_entry *entry, const char *why) {
    char text[4200];
    bool own = entry->origin == BS_ENTRY_PROFILE;
    (void)snprintf(text, sizeof text, "%s%s", own ? "!" : "", entry->rule);
    return bs_report_unenforced(report, text, why);
}

bool bs_rules_of_mounts(const struct bs_profile *profile, const char *root, bool root_is_writable,
                        struct bs_backend_report *report, unsigned counts[2]) {
    counts[0] = counts[1] = 0;
    for (int op = BS_OP_READ; profile != NULL && op <= BS_OP_MODIFY; op++) {
        size_t n = 0;
        const struct bs_entry *entries = bs_profile_entries(profile, (enum bs_op)op, &n);
        if (op == BS_OP_MODIFY && !root_is_writable)
            continue;
        for (size_t i = 0; i < n; i++) {
            const char *why = entries[i].negated ? why_not_mounted(&entries[i], root) : NULL;
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
