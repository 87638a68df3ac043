#include "policy/profile/linked.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "policy/path/rule.h"
#include "policy/path/walk.h"

/* Return the length of the names without a wildcard at the start of a body, without the slash after
 * them. */
static size_t literal_names(const struct bs_pattern *body) {
    size_t wildcard = 0;
    while (wildcard < body->len && body->text[wildcard] != '*' && body->text[wildcard] != '?')
        wildcard++;
    if (wildcard == body->len)
        return body->len;
    while (wildcard > 0 && body->text[wildcard - 1] != '/')
        wildcard--;
    return wildcard > 0 ? wildcard - 1 : 0;
}

/* Replace the names at the start of a rule by the place that they lead to. `place` becomes the body
 * of this moved rule. Returns false if no path in normal form can match the moved rule. A wildcard
 * character in the name of the place acts as a wildcard, so the rule may deny more than necessary,
 * but never less. */
static bool move_rule(const struct bs_pattern *body, size_t names, struct bs_buf *place) {
    const char *problem = NULL;
    if (place->len == 1 && place->data[0] == '.' && names < body->len) {
        place->len = 0;
        names++;
    }
    bs_buf_add(place, body->text + names, body->len - names);
    return place->failed || bs_rule_body_normalize(place->data, &place->len, &problem) == BS_OK;
}

static int no_memory(struct bs_error *err) {
    return bs_fail(err, BS_E_EXECUTION, 0, "out of memory for the links of a rule");
}

/* Set *matched to true if the names of the deny lead to another place, and the moved deny matches
 * the path. */
static int matches_there(const struct bs_profile *profile, int root_fd,
                         const struct bs_pattern *body, const struct bs_path_view *path,
                         bool *matched, struct bs_error *err) {
    struct bs_place place = {false, BS_BUF_INIT};
    struct bs_error why = BS_ERROR_INIT;
    size_t names = literal_names(body);
    *matched = false;
    if (names == 0)
        return BS_OK;
    int code = bs_walk(root_fd, body->text, names, BS_FOLLOW_FINAL, &place, &why);
    bool nowhere = code == BS_E_IO && (why.os_error == ELOOP || why.os_error == ENAMETOOLONG);
    if (code != BS_OK && !nowhere)
        code =
            bs_fail(err, code, why.os_error, "cannot follow the links of the deny `%.*s`: %.1000s",
                    (int)(body->len < 900 ? body->len : 900), body->text, why.message);
    else
        code = BS_OK;
    bool moved = code == BS_OK && !nowhere && place.inside &&
                 (place.path.len != names || memcmp(place.path.data, body->text, names) != 0);
    if (moved && move_rule(body, names, &place.path)) {
        struct bs_pattern there = {place.path.data, place.path.len};
        const struct bs_list one = {.patterns = &there, .n = 1};
        if (place.path.failed || !bs_note_matches(&one, profile->fold, *path, matched))
            code = no_memory(err);
    }
    bs_buf_clear(&place.path);
    return code;
}

int bs_outcome_with_links(const struct bs_profile *profile, int root_fd, enum bs_op op,
                          const struct bs_path_view *path, const struct bs_outcome **outcome,
                          struct bs_error *err) {
    const struct bs_list *list = &profile->effective.lists[op];
    ptrdiff_t deciding = BS_NO_RULE;
    *outcome = bs_profile_outcome(profile, op, path, &deciding);
    if (*outcome == NULL)
        return no_memory(err);
    if (!(*outcome)->allowed)
        return BS_OK;
    /* The path is allowed, so some rule matches, and there is a matcher. Find the last entry that
     * matches. */
    ptrdiff_t last = bs_matcher_highest_view(profile->full[op].matcher, path);
    if (last == BS_NO_MEMORY)
        return no_memory(err);
    /* If the last match is an exception, it cancels the denies before it. So only denies after it
     * and the profile's own rules count. */
    for (ptrdiff_t i = (ptrdiff_t)list->n - 1; (*outcome)->allowed && i > deciding; i--) {
        bool counts = i > last || i < (ptrdiff_t)list->n_own;
        bool matched = false;
        if (!counts || !list->entries[i].negated)
            continue;
        int code = matches_there(profile, root_fd, &list->patterns[i], path, &matched, err);
        if (code != BS_OK)
            return code;
        if (matched)
            *outcome = &profile->full[op].outcomes[i + 1];
    }
    return BS_OK;
}
