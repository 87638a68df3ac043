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

static bool step(uint64_t seed, struct walk *walk, const char *body, size_t len) {
    if (walk->at > len)
        return false;
    const char *separator = memchr(body + walk->at, '/', len - walk->at);
    walk->end = separator != NULL ? (size_t)(separator - body) : len;
    walk->hash = bs_table_hash(seed, walk->hash, body + walk->at, walk->end - walk->at);
    walk->at = walk->end + 1;
    return true;
}

uint32_t bs_cover_hash(uint64_t seed, const char *body, size_t len) {
    struct walk walk = {seed, 0, 0};
    while (step(seed, &walk, body, len))
        ;
    return (uint32_t)walk.hash;
}

static bool is_everything(const struct bs_rule *rule) {
    return rule->len == 2 && rule->body[0] == '*' && rule->body[1] == '*';
}

bool bs_cover_init(struct bs_cover *cover, size_t most, uint64_t seed) {
    *cover = (struct bs_cover){.seed = seed, .is_empty = true};
    return most == 0 || bs_table_init(&cover->bodies, most);
}

void bs_cover_clear(struct bs_cover *cover) {
    bs_table_clear(&cover->bodies);
    *cover = (struct bs_cover){.is_empty = true};
}

void bs_cover_add(struct bs_cover *cover, const struct bs_rule *rule, uint32_t number) {
    unsigned char start = (unsigned char)rule->body[0];
    cover->is_empty = false;
    if (bs_rule_subtree(rule->body, rule->len) > 0)
        cover->subtree_starts[start / 64] |= UINT64_C(1) << start % 64;
    if (is_everything(rule)) {
        if (!cover->has_everything)
            cover->everything_first = number;
        cover->everything_last = number;
        cover->has_everything = true;
    }
    bool added = false;
    bs_table_add(&cover->bodies, rule->hash, rule->body, rule->len, number, &added)->last = number;
}

void bs_cover_add_all(struct bs_cover *cover, const struct bs_rules *rules, bool negated) {
    for (size_t i = 0; i < rules->n; i++) {
        if (rules->items[i].negated == negated)
            bs_cover_add(cover, &rules->items[i], (uint32_t)i);
    }
}

static const struct bs_slot *equal_in(const struct bs_cover *cover, const struct bs_rule *rule) {
    return cover->is_empty
               ? NULL
               : bs_table_find(&cover->bodies, rule->hash, rule->body, rule->len, "", 0);
}

bool bs_cover_has_equal(const struct bs_cover *cover, const struct bs_rule *rule) {
    return equal_in(cover, rule) != NULL;
}

static void widen(struct bs_span *span, uint32_t first, uint32_t last) {
    if (span->first == BS_NO_COVER || first < span->first)
        span->first = first;
    if (span->last == BS_NO_COVER || last > span->last)
        span->last = last;
}

/* The subtrees that a rule lies in. That of a rule that is a subtree is the rule itself, so it is
 * left to whoever asks for equal ones. */
static void find_above(const struct bs_cover *cover, const struct bs_rule *rule,
                       struct bs_span *span) {
    unsigned char start = (unsigned char)rule->body[0];
    if ((cover->subtree_starts[start / 64] >> start % 64 & 1) == 0)
        return;
    size_t own = bs_rule_subtree(rule->body, rule->len);
    struct walk walk = {cover->seed, 0, 0};
    while (step(cover->seed, &walk, rule->body, rule->len)) {
        if (walk.end == own)
            continue;
        uint32_t hash = (uint32_t)bs_table_hash(cover->seed, walk.hash, "**", 2);
        const struct bs_slot *slot =
            bs_table_find(&cover->bodies, hash, rule->body, walk.end, "/**", 3);
        if (slot != NULL)
            widen(span, slot->first, slot->last);
    }
}

bool bs_cover_covers(const struct bs_cover *cover, const struct bs_rule *rule) {
    if (cover->is_empty || cover->has_everything || equal_in(cover, rule) != NULL)
        return !cover->is_empty;
    struct bs_span span = {BS_NO_COVER, BS_NO_COVER};
    find_above(cover, rule, &span);
    return span.first != BS_NO_COVER;
}

struct bs_span bs_cover_find(const struct bs_cover *cover, const struct bs_rule *rule,
                             bool also_equal) {
    struct bs_span span = {BS_NO_COVER, BS_NO_COVER};
    if (cover->is_empty)
        return span;
    if (cover->has_everything && (also_equal || !is_everything(rule)))
        widen(&span, cover->everything_first, cover->everything_last);
    find_above(cover, rule, &span);
    const struct bs_slot *equal = also_equal ? equal_in(cover, rule) : NULL;
    if (equal != NULL)
        widen(&span, equal->first, equal->last);
    return span;
}
