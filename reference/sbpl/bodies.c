#define _GNU_SOURCE
#include "sbpl/bodies.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/path/fold.h"
#include "policy/path/rule.h"
#include "sbpl/spell.h"

/* Make a body from the rule of an entry. Leave out the `./` and the `/` that bs_rule_put
 * (policy/path/rule.h) adds where a parser would otherwise misread the rule. */
static void take_off(const struct bs_entry *entry, struct bs_body *body) {
    body->text = entry->rule;
    body->len = entry->rule_len;
    if (body->len > 2 && memcmp(body->text, "./", 2) == 0) {
        body->text += 2;
        body->len -= 2;
    }
    if (body->len > 1 && body->text[body->len - 1] == '/')
        body->len--;
}

static void classify(struct bs_body *body) {
    body->look = bs_spell_look(body->text, body->len);
    body->top = body->len;
    if ((body->look & BS_HAS_WILDCARD) == 0)
        return;
    for (size_t less = bs_rule_subtree(body->text, body->top); less > 0;
         less = bs_rule_subtree(body->text, body->top))
        body->top = less;
}

static size_t place_of(const struct bs_body *body) {
    if (bs_body_is_root(body))
        return 0;
    if ((body->look & BS_HAS_WILDCARD) == 0)
        return body->len;
    const char *star = memchr(body->text, '*', body->top);
    size_t end = star != NULL ? (size_t)(star - body->text) : body->top;
    const char *question = memchr(body->text, '?', end);
    if (question != NULL)
        end = (size_t)(question - body->text);
    if (end == body->top)
        return end;
    const char *slash = memrchr(body->text, '/', end);
    return slash != NULL ? (size_t)(slash - body->text) : 0;
}

static void take(struct bs_bodies *bodies, struct bs_body *items) {
    bodies->items = items;
    bodies->denied_from = bodies->n;
    for (size_t i = bodies->n; i-- > 0;) {
        const struct bs_entry *entry = &bodies->entries[i];
        take_off(entry, &items[i]);
        if (entry->negated)
            bodies->denied_from = i;
        bodies->n_own += entry->origin == BS_ENTRY_PROFILE;
    }
}

static bool fold_all(struct bs_both_bodies *both, size_t n) {
    struct bs_buf *folded = &both->folded;
    size_t room = 0;
    for (size_t i = 0; i < n; i++) {
        if (both->items[i].len > SIZE_MAX / 8 - room / 3)
            return false;
        room += BS_FOLD_ROOM(both->items[i].len);
    }
    /* Reserve the text of all bodies at once. If the text moved later, pointers into it would
     * become invalid. */
    if (!bs_buf_reserve(folded, room))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct bs_body *body = &both->items[i];
        size_t len = 0;
        if (!bs_fold(body->text, body->len, folded->data + folded->len, &len))
            return false;
        body->text = folded->data + folded->len;
        body->len = len;
        folded->len += len;
    }
    return true;
}

bool bs_bodies_open(const struct bs_profile *profile, struct bs_both_bodies *both) {
    *both = (struct bs_both_bodies){.folded = BS_BUF_INIT};
    struct bs_bodies *lists = both->lists;
    for (int op = BS_OP_READ; op <= BS_OP_MODIFY; op++)
        lists[op].entries = bs_profile_entries(profile, (enum bs_op)op, &lists[op].n);
    size_t n = lists[BS_OP_READ].n + lists[BS_OP_MODIFY].n;
    both->items = calloc(n + 1, sizeof *both->items);
    if (both->items == NULL)
        return false;
    take(&lists[BS_OP_READ], both->items);
    take(&lists[BS_OP_MODIFY], both->items + lists[BS_OP_READ].n);
    if (bs_profile_folds(profile) && !fold_all(both, n)) {
        bs_bodies_close(both);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        classify(&both->items[i]);
    const struct bs_bodies *read = &lists[BS_OP_READ];
    for (size_t i = read->denied_from; i < read->n; i++)
        read->items[i].place = place_of(&read->items[i]);
    return true;
}

void bs_bodies_close(struct bs_both_bodies *both) {
    free(both->items);
    bs_buf_clear(&both->folded);
    memset(both, 0, sizeof *both);
}

const char *bs_body_name(const struct bs_both_bodies *both, enum bs_op op, size_t index, char *buf,
                         size_t size) {
    const struct bs_bodies *bodies = &both->lists[op];
    bool own = index < bodies->n_own;
    const char *word = op == BS_OP_READ ? "Read" : "Modify";
    if (own)
        (void)snprintf(buf, size, "%s[%zu]", op == BS_OP_READ ? "read" : "modify", index);
    else
        (void)snprintf(buf, size, "deny%s[%zu]", word, index - bodies->n_own);
    return buf;
}
