#include "policy/match/keys.h"

#include <string.h>

#include "policy/match/backtrack.h"

/* A rule without the `**` segments at its start and end. */
struct body {
    bool gap_first;
    bool gap_last;
    const char *at;
    const char *end;
    const char *rule_end;
};

static bool is_wild(char c) { return c == '*' || c == '?'; }

static struct body body_of(const struct bs_pattern *pattern) {
    const char *end = pattern->text + pattern->len;
    struct body body = {false, false, pattern->text, end, end};
    while (body.end - body.at >= 3 && memcmp(body.at, "**/", 3) == 0) {
        body.gap_first = true;
        body.at += 3;
    }
    while (body.end - body.at >= 3 && memcmp(body.end - 3, "/**", 3) == 0) {
        body.gap_last = true;
        body.end -= 3;
    }
    return body;
}

static bool has_gap(const char *at, const char *end) {
    for (; end - at >= 2; at++) {
        if (at[0] == '*' && at[1] == '*')
            return true;
    }
    return false;
}

/* Return the end of the whole names at the start of the body, or NULL if the body does not start
 * with a whole name. */
static const char *names_end(const struct body *body) {
    const char *end = NULL;
    for (const char *at = body->at; at == body->end || !is_wild(*at); at++) {
        if (at == body->end || *at == '/')
            end = at;
        if (at == body->end)
            break;
    }
    return end;
}

static struct bs_pattern rest_from(const struct body *body, const char *at) {
    return (struct bs_pattern){at, (size_t)(body->rule_end - at)};
}

static bool top(const struct body *body, struct bs_key *key) {
    const char *end = names_end(body);
    if (body->gap_first || end == NULL)
        return false;
    *key = (struct bs_key){BS_KEY_TOP, BS_KEY_GLOB, body->at, (size_t)(end - body->at), {0}};
    if (end == body->end)
        key->then = body->gap_last ? BS_KEY_INSIDE : BS_KEY_LAST;
    else
        key->glob = rest_from(body, end + 1);
    return true;
}

/* Find a key of the kind name or head. A path may contain the name several times, and the rest of
 * the rule must be tried each time. So the rest may have a `**` only at its end. For any other
 * `**`, each try would search the whole path. */
static bool name(const struct body *body, struct bs_key *key) {
    const char *end = names_end(body);
    if (!body->gap_first || end == NULL)
        return false;
    const char *slash = memchr(body->at, '/', (size_t)(end - body->at));
    if (slash != NULL)
        end = slash;
    *key = (struct bs_key){BS_KEY_NAME, BS_KEY_GLOB, body->at, (size_t)(end - body->at), {0}};
    if (end == body->end)
        key->then = body->gap_last ? BS_KEY_INSIDE : BS_KEY_LAST;
    else
        key->glob = rest_from(body, end + 1);
    return !has_gap(end, body->end);
}

static bool head(const struct body *body, struct bs_key *key) {
    size_t len = 0;
    while (body->at + len < body->end && len < BS_KEY_MOST_BYTES && !is_wild(body->at[len]) &&
           body->at[len] != '/')
        len++;
    *key = (struct bs_key){BS_KEY_HEAD, BS_KEY_GLOB, body->at, len, rest_from(body, body->at)};
    return body->gap_first && len > 0 && !has_gap(body->at, body->end);
}

static bool ending(const struct bs_pattern *pattern, const struct body *body, struct bs_key *key) {
    const char *at = body->end;
    while (at > body->at && !is_wild(at[-1]))
        at--;
    size_t len = (size_t)(body->end - at);
    bool is_all =
        body->gap_first && at == body->at + 1 && *body->at == '*' && len <= BS_KEY_MOST_BYTES;
    if (len > BS_KEY_MOST_BYTES)
        len = BS_KEY_MOST_BYTES;
    *key = (struct bs_key){BS_KEY_ENDING, is_all ? BS_KEY_LAST : BS_KEY_GLOB, body->end - len, len,
                           *pattern};
    return !body->gap_last && len > 0;
}

size_t bs_keys_of(const struct bs_pattern *pattern, struct bs_key keys[BS_KEYS_OF_A_RULE]) {
    if (!bs_backtrack_fits(pattern))
        return 0;
    struct body body = body_of(pattern);
    size_t n = top(&body, &keys[0]) || name(&body, &keys[0]) || head(&body, &keys[0]);
    if (n == 1 && keys[0].then != BS_KEY_GLOB)
        return n;
    n += ending(pattern, &body, &keys[n]);
    return n;
}
