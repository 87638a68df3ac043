#include "policy/cover.h"

#include <string.h>

#include "policy/rule.h"

/* Bodies are hashed segment by segment: on the way through a rule the hash of each subtree above it
 * is one step away. */
struct walk {
    uint64_t hash;
    size_t at;  /* where the next segment starts */
    size_t end; /* of the segment that was taken last */
};

static bool step(const struct bs_cover *cover, struct walk *walk, const char *body, size_t len) {
    if (walk->at > len)
        return false;
    const char *separator = memchr(body + walk->at, '/', len - walk->at);
    walk->end = separator != NULL ? (size_t)(separator - body) : len;
    walk->hash = bs_table_hash(&cover->bodies, walk->hash, body + walk->at, walk->end - walk->at);
    walk->at = walk->end + 1;
    return true;
}

static uint64_t hash_of(const struct bs_cover *cover, const char *body, size_t len) {
    struct walk walk = {cover->bodies.seed, 0, 0};
    while (step(cover, &walk, body, len))
        ;
    return walk.hash;
}

static bool is_everything(const char *body, size_t len) {
    return len == 2 && body[0] == '*' && body[1] == '*';
}

bool bs_cover_init(struct bs_cover *cover, size_t most) {
    *cover = (struct bs_cover){.is_empty = true};
    return most == 0 || bs_table_init(&cover->bodies, most);
}

void bs_cover_clear(struct bs_cover *cover) {
    bs_table_clear(&cover->bodies);
    *cover = (struct bs_cover){.is_empty = true};
}

void bs_cover_add(struct bs_cover *cover, const char *body, size_t len, uint32_t number) {
    cover->is_empty = false;
    cover->has_subtrees = cover->has_subtrees || bs_rule_subtree(body, len) > 0;
    if (is_everything(body, len)) {
        if (!cover->has_everything)
            cover->everything_first = number;
        cover->everything_last = number;
        cover->has_everything = true;
    }
    bool added = false;
    bs_table_add(&cover->bodies, hash_of(cover, body, len), body, len, number, &added)->last =
        number;
}

bool bs_cover_has_equal(const struct bs_cover *cover, const char *body, size_t len) {
    return !cover->is_empty &&
           bs_table_find(&cover->bodies, hash_of(cover, body, len), body, len, "", 0) != NULL;
}

static void widen(struct bs_span *span, uint32_t first, uint32_t last) {
    if (span->first == BS_NO_COVER || first < span->first)
        span->first = first;
    if (span->last == BS_NO_COVER || last > span->last)
        span->last = last;
}

struct bs_span bs_cover_find(const struct bs_cover *cover, const char *body, size_t len,
                             bool also_equal) {
    struct bs_span span = {BS_NO_COVER, BS_NO_COVER};
    if (cover->is_empty)
        return span;
    if (cover->has_everything && (also_equal || !is_everything(body, len)))
        widen(&span, cover->everything_first, cover->everything_last);
    if (!cover->has_subtrees && !also_equal)
        return span;
    size_t own_subtree = bs_rule_subtree(body, len);
    struct walk walk = {cover->bodies.seed, 0, 0};
    while (step(cover, &walk, body, len)) {
        /* The subtree of a rule that is itself a subtree is the rule: equal. */
        if (!cover->has_subtrees || walk.end == own_subtree)
            continue;
        const struct bs_slot *slot =
            bs_table_find(&cover->bodies, bs_table_hash(&cover->bodies, walk.hash, "**", 2), body,
                          walk.end, "/**", 3);
        if (slot != NULL)
            widen(&span, slot->first, slot->last);
    }
    if (also_equal) {
        const struct bs_slot *slot = bs_table_find(&cover->bodies, walk.hash, body, len, "", 0);
        if (slot != NULL)
            widen(&span, slot->first, slot->last);
    }
    return span;
}
