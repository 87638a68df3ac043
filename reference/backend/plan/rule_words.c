/* Finds out which links of a workspace matter to a policy. Package managers make thousands of
 * links, also in circles, and few policies have rules about them. Skipping the others saves
 * time. */
#define _GNU_SOURCE
#include "backend/plan/rule_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <boxspec/glob.h>

enum kind {
    ONE_COMPONENT,
    ANY_COMPONENTS /* `**` */,
    ANYTHING /* a word that cannot be compiled by itself */
};

struct word {
    enum kind kind;
    struct bs_glob *glob; /* if the kind is ONE_COMPONENT */
};

struct rule {
    const struct bs_entry *entry;
    enum bs_op op;
    struct word *words;
    size_t n;
};

struct bs_rule_words {
    struct rule *rules;
    size_t n;
};

/* True if the word can be compiled as a glob of its own. A word with a blank at an end cannot,
 * because the glob would lose the blank. */
static bool is_glob(const char *word, size_t len) {
    static const char blanks[] = " \t";
    return len > 0 && memmem(word, len, "**", 2) == NULL && strchr(blanks, word[0]) == NULL &&
           strchr(blanks, word[len - 1]) == NULL;
}

static int make_word(const char *text, size_t len, enum bs_case sensitivity, struct word *word) {
    *word = (struct word){ANYTHING, NULL};
    if (len == 2 && memcmp(text, "**", 2) == 0)
        word->kind = ANY_COMPONENTS;
    if (word->kind == ANY_COMPONENTS || !is_glob(text, len))
        return 0;
    int code = bs_glob_compile(text, len, sensitivity, &word->glob, NULL);
    if (code == BS_OK)
        word->kind = ONE_COMPONENT;
    return code == BS_E_EXECUTION ? ENOMEM : 0;
}

static size_t count_words(const char *text) {
    size_t n = 1;
    for (; *text != '\0'; text++)
        n += *text == '/';
    return n;
}

static int make_rule(const struct bs_entry *entry, enum bs_op op, enum bs_case sensitivity,
                     struct rule *rule) {
    int os_error = 0;
    *rule = (struct rule){entry, op, NULL, 0};
    rule->words = calloc(count_words(entry->rule), sizeof *rule->words);
    if (rule->words == NULL)
        return ENOMEM;
    for (const char *at = entry->rule; os_error == 0 && at != NULL;) {
        size_t len = strcspn(at, "/");
        os_error = make_word(at, len, sensitivity, &rule->words[rule->n++]);
        at = at[len] == '/' ? at + len + 1 : NULL;
    }
    return os_error;
}

int bs_rule_words_make(const struct bs_profile *profile, struct bs_rule_words **out) {
    enum bs_case sensitivity = bs_profile_folds(profile) ? BS_CASE_FOLD : BS_CASE_SENSITIVE;
    size_t n[2] = {0, 0};
    const struct bs_entry *entries[2];
    struct bs_rule_words *words = calloc(1, sizeof *words);
    int os_error = words == NULL ? ENOMEM : 0;
    *out = NULL;
    for (int op = BS_OP_READ; op <= BS_OP_MODIFY; op++)
        entries[op] = bs_profile_entries(profile, (enum bs_op)op, &n[op]);
    if (words != NULL) {
        words->rules = calloc(n[0] + n[1] + 1, sizeof *words->rules);
        os_error = words->rules == NULL ? ENOMEM : 0;
    }
    for (int op = BS_OP_READ; op <= BS_OP_MODIFY; op++) {
        for (size_t i = 0; os_error == 0 && i < n[op]; i++)
            os_error =
                make_rule(&entries[op][i], (enum bs_op)op, sensitivity, &words->rules[words->n++]);
    }
    if (os_error == 0)
        *out = words;
    else
        bs_rule_words_free(words);
    return os_error;
}

void bs_rule_words_free(struct bs_rule_words *words) {
    if (words == NULL)
        return;
    for (size_t i = 0; i < words->n; i++) {
        for (size_t j = 0; j < words->rules[i].n; j++)
            bs_glob_free(words->rules[i].words[j].glob);
        free(words->rules[i].words);
    }
    free(words->rules);
    free(words);
}

/* True if the word matches the component. A component that the glob refuses counts as a match, to
 * be safe. */
static bool matches(const struct word *word, const char *component, size_t len) {
    bool matched = true;
    return word->kind == ANYTHING ||
           bs_glob_match(word->glob, component, len, &matched, NULL) != BS_OK || matched;
}

static bool has_matching_word(const struct rule *rule, const char *path) {
    for (const char *at = path; at != NULL && at[0] != '\0';) {
        size_t len = strcspn(at, "/");
        for (size_t i = 0; i < rule->n; i++) {
            if (rule->words[i].kind != ANY_COMPONENTS && matches(&rule->words[i], at, len))
                return true;
        }
        at = at[len] == '/' ? at + len + 1 : NULL;
    }
    return false;
}

bool bs_link_is_relevant(const struct bs_rule_words *words, const char *link, const char *target) {
    for (size_t i = 0; i < words->n; i++) {
        const struct rule *rule = &words->rules[i];
        if (has_matching_word(rule, rule->entry->negated ? link : target))
            return true;
    }
    return false;
}

/* The positions in a rule that can be reached after it has matched the first components of a path.
 * For a position in `named`, a word other than `**` has matched at least one component; for a
 * position in `plain`, only `**` has. */
struct positions {
    bool *plain; /* both have n + 1 elements, of which the last one is the end of the rule */
    bool *named;
};

/* Add the positions after each `**`, because `**` also matches zero components. */
static void skip_any(const struct rule *rule, bool *positions) {
    for (size_t i = 0; i < rule->n; i++) {
        if (positions[i] && rule->words[i].kind == ANY_COMPONENTS)
            positions[i + 1] = true;
    }
}

/* Match one more component. The loop goes from the last word to the first, so that each position is
 * read before it is overwritten. */
static void step(const struct rule *rule, const char *component, size_t len,
                 struct positions *positions) {
    positions->plain[rule->n] = positions->named[rule->n] = false;
    for (size_t i = rule->n; i-- > 0;) {
        bool any = rule->words[i].kind == ANY_COMPONENTS;
        bool either = positions->plain[i] || positions->named[i];
        if (any || !either)
            continue;
        positions->named[i + 1] =
            positions->named[i + 1] || matches(&rule->words[i], component, len);
        positions->plain[i] = positions->named[i] = false;
    }
    skip_any(rule, positions->plain);
    skip_any(rule, positions->named);
}

/* True if the rule matches the whole path and has more words, which match names below the path. */
static bool reaches_below(const struct rule *rule, const char *path) {
    bool *all = calloc(rule->n + 1, 2 * sizeof *all);
    struct positions positions = {all, all != NULL ? all + rule->n + 1 : NULL};
    bool reaches = all == NULL; /* without memory the rule is assumed to matter */
    if (all != NULL) {
        positions.plain[0] = true;
        skip_any(rule, positions.plain);
    }
    for (const char *at = path; all != NULL && at != NULL;) {
        size_t len = strcspn(at, "/");
        step(rule, at, len, &positions);
        at = at[len] == '/' ? at + len + 1 : NULL;
    }
    for (size_t i = 0; all != NULL && i < rule->n; i++)
        reaches = reaches || positions.named[i] || rule->words[i].kind == ANYTHING;
    free(all);
    return reaches;
}

const struct bs_entry *bs_rule_below(const struct bs_rule_words *words, enum bs_op op,
                                     const char *path) {
    for (size_t i = 0; i < words->n; i++) {
        const struct rule *rule = &words->rules[i];
        if (rule->op == op && rule->entry->negated && reaches_below(rule, path))
            return rule->entry;
    }
    return NULL;
}
