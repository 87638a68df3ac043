#include "policy/document/cover.h"

#include <string.h>

#include "base/word.h"
#include "policy/path/rule.h"

static bool is_everything(const struct bs_rule *rule) {
    return rule->len == 2 && rule->body[0] == '*' && rule->body[1] == '*';
}

void bs_cover_clear(struct bs_cover *cover) {
    bs_table_clear(&cover->bodies);
    bs_table_clear(&cover->subtrees);
    cover->is_empty = true;
}

/* Return a number below 256 for the first segment of a rule: a hash of its first eight bytes. A
 * rule that lies inside a subtree has the same number as the subtree. If no subtree has the number
 * of a rule, the rule needs no look-up, which is the case for most rules. */
static size_t start_of(const struct bs_rule *rule) {
    uint64_t first =
        rule->len < BS_WORD_BYTES ? bs_word_rest(rule->body, rule->len) : bs_word_at(rule->body);
    uint64_t separators = bs_word_equal(first, '/');
    if (separators != 0)
        first &= (separators & -separators) / 0x80 - 1;
    return first * BS_TABLE_ODD >> 56;
}

static void add_subtree(struct bs_cover *cover, const struct bs_rule *rule, size_t top,
                        uint32_t number) {
    size_t start = start_of(rule);
    cover->subtree_starts[start / 64] |= UINT64_C(1) << start % 64;
    uint32_t hash = (uint32_t)bs_table_hash(cover->seed, rule->body, top);
    bool added = false;
    bs_table_add(&cover->subtrees, hash, rule->body, top, number, &added)->last = number;
}

static void add(struct bs_cover *cover, const struct bs_rule *rule, uint32_t number) {
    size_t top = bs_rule_subtree(rule->body, rule->len);
    cover->is_empty = false;
    if (top > 0)
        add_subtree(cover, rule, top, number);
    if (is_everything(rule)) {
        if (!cover->has_everything)
            cover->everything_first = number;
        cover->everything_last = number;
        cover->has_everything = true;
    }
    bool added = false;
    bs_table_add(&cover->bodies, rule->hash, rule->body, rule->len, number, &added)->last = number;
}

struct count {
    size_t rules;
    size_t subtrees;
};

static void count_in(struct count *count, const struct bs_rules *rules, bool negated) {
    for (size_t i = 0; rules != NULL && i < rules->n; i++) {
        if (rules->items[i].negated != negated)
            continue;
        count->rules++;
        count->subtrees += bs_rule_subtree(rules->items[i].body, rules->items[i].len) > 0;
    }
}

static void add_all(struct bs_cover *cover, const struct bs_rules *rules, bool negated,
                    size_t from) {
    for (size_t i = 0; i < rules->n; i++) {
        if (rules->items[i].negated == negated)
            add(cover, &rules->items[i], (uint32_t)(from + i));
    }
}

bool bs_cover_fill(struct bs_cover *cover, const struct bs_rules *rules,
                   const struct bs_rules *more, bool negated, uint64_t seed) {
    struct count count = {0, 0};
    count_in(&count, rules, negated);
    count_in(&count, more, negated);
    cover->seed = seed;
    memset(cover->subtree_starts, 0, sizeof cover->subtree_starts);
    cover->has_everything = false;
    cover->is_empty = true;
    bool good = bs_table_init(&cover->bodies, count.rules);
    if (!bs_table_init(&cover->subtrees, count.subtrees) || !good) {
        bs_cover_clear(cover);
        return false;
    }
    add_all(cover, rules, negated, 0);
    if (more != NULL)
        add_all(cover, more, negated, rules->n);
    return true;
}

static const struct bs_slot *equal_in(const struct bs_cover *cover, const struct bs_rule *rule) {
    return cover->is_empty ? NULL
                           : bs_table_find(&cover->bodies, rule->hash, rule->body, rule->len);
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

static void find_subtree(const struct bs_cover *cover, uint64_t hash, const struct bs_rule *rule,
                         size_t top, struct bs_span *span) {
    const struct bs_slot *slot = bs_table_find(&cover->subtrees, (uint32_t)hash, rule->body, top);
    if (slot != NULL)
        widen(span, slot->first, slot->last);
}

/* Find the subtrees in which a rule lies. Each separator needs one look-up of the text before it,
 * whose hash is computed along the way. A rule that is a subtree also lies in itself, but the
 * search for equal rules finds this case. */
static void find_above(const struct bs_cover *cover, const struct bs_rule *rule,
                       struct bs_span *span) {
    size_t start = start_of(rule);
    if ((cover->subtree_starts[start / 64] >> start % 64 & 1) == 0)
        return;
    size_t own = bs_rule_subtree(rule->body, rule->len);
    uint64_t state = cover->seed;
    for (size_t at = 0; at < rule->len; at += BS_WORD_BYTES) {
        uint64_t word = rule->len - at >= BS_WORD_BYTES ? bs_word_at(rule->body + at)
                                                        : bs_word_rest(rule->body, rule->len);
        uint64_t separators = bs_word_equal(word, '/');
        for (; separators != 0; separators &= separators - 1) {
            unsigned bits = (unsigned)__builtin_ctzll(separators) / 8 * 8;
            size_t top = at + bits / 8;
            uint64_t rest = word & ((UINT64_C(1) << bits) - 1);
            if (top != own)
                find_subtree(cover, bs_table_finish(cover->seed, state, rest, top), rule, top,
                             span);
        }
        state = bs_table_step(cover->seed, state, word);
    }
    find_subtree(cover, rule->hash, rule, rule->len, span);
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
