#include "support/answer_diff.h"

#include <string.h>

#include "support/request_oracle.h"

static bool is_any(const char *text, const char *const *words) {
    while (*words != NULL && strcmp(text, *words) != 0)
        words++;
    return *words != NULL;
}

static bool same_scalar(const struct bs_fuzz_node *a, const struct bs_fuzz_node *b) {
    if (a == NULL || b == NULL)
        return a == b;
    return a->kind == b->kind && a->len == b->len && a->text != NULL && b->text != NULL &&
           memcmp(a->text, b->text, a->len) == 0;
}

/* Copy a rule, with each run of three or more stars shortened to `**`, at most `room` bytes. Both
 * sides are compared in this form, because the contract leaves open how answers write such runs. */
static size_t plain_rule(const struct bs_fuzz_node *rule, char *to, size_t room) {
    size_t len = 0;
    for (size_t i = 0; i < rule->len && len < room; i++) {
        bool third = rule->text[i] == '*' && len >= 2 && to[len - 1] == '*' && to[len - 2] == '*';
        if (!third)
            to[len++] = rule->text[i];
    }
    return len;
}

/* True if the body of the rule begins or ends with a blank. The contract leaves open how answers
 * write such a rule. */
static bool has_open_form(const char *rule, size_t len) {
    while (len > 0 && (*rule == '!' || *rule == '.' || *rule == '/'))
        rule++, len--;
    while (len > 0 && rule[len - 1] == '/')
        len--;
    return len > 0 &&
           (*rule == ' ' || *rule == '\t' || rule[len - 1] == ' ' || rule[len - 1] == '\t');
}

static bool same_rule(const struct bs_fuzz_node *a, const struct bs_fuzz_node *b) {
    enum { ROOM = 8192 };
    static char ours[ROOM];
    static char theirs[ROOM];
    if (same_scalar(a, b))
        return true;
    if (a->kind != b->kind || a->text == NULL || b->text == NULL || a->len > ROOM || b->len > ROOM)
        return false;
    size_t len = plain_rule(a, ours, ROOM);
    return has_open_form(ours, len) ||
           (plain_rule(b, theirs, ROOM) == len && memcmp(ours, theirs, len) == 0);
}

/* True if two problems or warnings are equal in code and place. Messages are for people and may
 * differ. */
static bool same_finding(const struct bs_fuzz_node *a, const struct bs_fuzz_node *b) {
    static const char *const members[] = {"code", "pointer", "line", "column", "file"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (!same_scalar(bs_fuzz_field(a, members[i]), bs_fuzz_field(b, members[i])))
            return false;
    }
    return true;
}

/* True for the warning `under-deny`: if the deny has an exception, the contract leaves open whether
 * a rule below the deny gets this warning. */
static bool is_open(const struct bs_fuzz_node *finding) {
    const struct bs_fuzz_node *code = bs_fuzz_field(finding, "code");
    return code != NULL && strcmp(code->text, "under-deny") == 0;
}

/* True if the finding lies inside the value of a key that the reference reports as repeated. That
 * value is not used, so the contract leaves open which further problems are reported in it. */
static bool is_repeated(const struct bs_fuzz_node *finding, const struct bs_fuzz_node *ours) {
    const struct bs_fuzz_node *pointer = bs_fuzz_field(finding, "pointer");
    const struct bs_fuzz_node *each = ours != NULL ? ours->first : NULL;
    for (; each != NULL && pointer != NULL && pointer->text != NULL; each = each->next) {
        const struct bs_fuzz_node *above = bs_fuzz_field(each, "pointer");
        const struct bs_fuzz_node *message = bs_fuzz_field(each, "message");
        if (above != NULL && message != NULL &&
            strstr(message->text, "for the second time") != NULL && pointer->len > above->len &&
            pointer->text[above->len] == '/' && memcmp(pointer->text, above->text, above->len) == 0)
            return true;
    }
    return false;
}

/* True if each finding is in `among` or may be missing there. `ours` are the findings of the
 * reference, which show where a finding may be missing. */
static bool all_found(const struct bs_fuzz_node *findings, const struct bs_fuzz_node *among,
                      const struct bs_fuzz_node *ours) {
    const struct bs_fuzz_node *finding = findings != NULL ? findings->first : NULL;
    for (; finding != NULL; finding = finding->next) {
        const struct bs_fuzz_node *other = among != NULL ? among->first : NULL;
        while (other != NULL && !same_finding(finding, other))
            other = other->next;
        if (other == NULL && !is_open(finding) && !is_repeated(finding, ours))
            return false;
    }
    return true;
}

static bool same_findings(const struct bs_fuzz_node *a, const struct bs_fuzz_node *b) {
    return all_found(a, b, a) && all_found(b, a, a);
}

static bool errors_differ(const struct bs_fuzz_node *ours, const struct bs_fuzz_node *theirs,
                          const char **where) {
    *where = "kind";
    if (!same_scalar(bs_fuzz_field(ours, "kind"), bs_fuzz_field(theirs, "kind")))
        return true;
    *where = "problems";
    const struct bs_fuzz_node *problems = bs_fuzz_field(ours, "problems");
    /* Compare only the problems of a file. The problems of a request have no line, and the contract
     * does not define their pointers. */
    bool placed = problems != NULL && problems->first != NULL &&
                  bs_fuzz_field(problems->first, "line") != NULL;
    return placed && !same_findings(problems, bs_fuzz_field(theirs, "problems"));
}

static bool differ(const struct bs_fuzz_node *ours, const struct bs_fuzz_node *theirs,
                   const char **where);

static bool members_differ(const struct bs_fuzz_node *ours, const struct bs_fuzz_node *theirs,
                           const char **where) {
    static const char *const for_people[] = {"message", "time", "why", NULL};
    for (const struct bs_fuzz_node *key = ours->first; key != NULL; key = key->next->next) {
        const struct bs_fuzz_node *other = bs_fuzz_field(theirs, key->text);
        *where = key->text;
        if (is_any(key->text, for_people))
            continue;
        if (other == NULL)
            return true;
        if (strcmp(key->text, "error") == 0) {
            if (errors_differ(key->next, other, where))
                return true;
        } else if (strcmp(key->text, "warnings") == 0) {
            if (!same_findings(key->next, other))
                return true;
        } else if (differ(key->next, other, where)) {
            return true;
        }
    }
    return false;
}

static bool differ(const struct bs_fuzz_node *ours, const struct bs_fuzz_node *theirs,
                   const char **where) {
    if (ours->kind != theirs->kind)
        return true;
    if (ours->kind == BS_FUZZ_MAP)
        return members_differ(ours, theirs, where);
    static const char *const rules[] = {"matched_rule", "read", "modify", "except", "rule", NULL};
    if (ours->kind != BS_FUZZ_LIST)
        return is_any(*where, rules) ? !same_rule(ours, theirs) : !same_scalar(ours, theirs);
    const struct bs_fuzz_node *other = theirs->first;
    for (const struct bs_fuzz_node *item = ours->first; item != NULL; item = item->next) {
        if (other == NULL || differ(item, other, where))
            return true;
        other = other->next;
    }
    return other != NULL;
}

bool bs_fuzz_answers_differ(const struct bs_fuzz_node *ours, const struct bs_fuzz_node *theirs,
                            const char **where) {
    *where = "an object";
    if (theirs == NULL || theirs->kind != BS_FUZZ_MAP)
        return true;
    if (bs_fuzz_field(theirs, "unsupported") != NULL &&
        same_scalar(bs_fuzz_field(ours, "id"), bs_fuzz_field(theirs, "id")))
        return false;
    return differ(ours, theirs, where);
}
