#include <stdlib.h>
#include <string.h>

#include "policy/match/backtrack.h"
#include "policy/match/index.h"

enum { LONGEST_COUNTED = 31 };

struct builder {
    struct bs_index *index;
    struct bs_pattern *copies; /* copy of each rule */
    struct bs_key *chosen;     /* the key of each rule; its text is NULL if the rule has no key */
    /* bs_slot.last is the number of rules that could have the key; only for rules with two keys */
    struct bs_table users[BS_KEY_KINDS];
    bool keyless_too;
};

static bool is_root(const struct bs_pattern *p) { return p->len == 1 && p->text[0] == '.'; }

/* True if all segments of the pattern are `**`. */
static bool is_all(const struct bs_pattern *p) {
    if (p->len % 3 != 2)
        return false;
    for (size_t i = 0; i < p->len; i++) {
        if (p->text[i] != "**/"[i % 3])
            return false;
    }
    return true;
}

static size_t keys_of(const struct bs_pattern *pattern, struct bs_key keys[BS_KEYS_OF_A_RULE]) {
    return is_root(pattern) || is_all(pattern) ? 0 : bs_keys_of(pattern, keys);
}

static uint32_t hash_of(const struct bs_index *index, const struct bs_key *key) {
    return (uint32_t)bs_table_hash(index->seed, key->text, key->len);
}

static void lift(int32_t *best, int32_t rule) {
    if (rule > *best)
        *best = rule;
}

static bool copy_patterns(struct builder *builder, const struct bs_pattern *patterns, size_t n,
                          const bool *left) {
    struct bs_index *index = builder->index;
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += left[i] ? 0 : patterns[i].len;
    index->texts = malloc(bytes + 1);
    builder->copies = calloc(n + 1, sizeof *builder->copies);
    builder->chosen = calloc(n + 1, sizeof *builder->chosen);
    if (index->texts == NULL || builder->copies == NULL || builder->chosen == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (left[i])
            continue;
        builder->copies[i] = (struct bs_pattern){index->texts + index->texts_len, patterns[i].len};
        memcpy(index->texts + index->texts_len, patterns[i].text, patterns[i].len);
        index->texts_len += patterns[i].len;
    }
    return true;
}

/* Reserve room for all possible keys. Most rules have one possible key. */
static bool reserve(struct builder *builder, size_t n, const bool *left) {
    struct bs_index *index = builder->index;
    struct bs_key keys[BS_KEYS_OF_A_RULE];
    size_t possible[BS_KEY_KINDS] = {0};
    size_t shared[BS_KEY_KINDS] = {0};
    size_t all = 1;
    for (size_t i = 0; i < n; i++) {
        size_t n_keys = left[i] ? 0 : keys_of(&builder->copies[i], keys);
        all += n_keys > 0;
        for (size_t k = 0; k < n_keys; k++) {
            possible[keys[k].kind]++;
            shared[keys[k].kind] += n_keys > 1;
        }
    }
    bool good = true;
    for (size_t kind = 0; kind < BS_KEY_KINDS; kind++)
        good = good && bs_table_init(&index->keys[kind], possible[kind]) &&
               bs_table_init(&builder->users[kind], shared[kind]);
    index->buckets = malloc(all * sizeof *index->buckets);
    return good && index->buckets != NULL;
}

static void count_users(struct builder *builder, size_t n, const bool *left) {
    struct bs_key keys[BS_KEYS_OF_A_RULE];
    for (size_t i = 0; i < n; i++) {
        size_t n_keys = left[i] ? 0 : keys_of(&builder->copies[i], keys);
        for (size_t k = 0; k < n_keys && n_keys > 1; k++) {
            bool added = false;
            bs_table_add(&builder->users[keys[k].kind], hash_of(builder->index, &keys[k]),
                         keys[k].text, keys[k].len, 0, &added)
                ->last++;
        }
    }
}

static uint32_t users_of(const struct builder *builder, const struct bs_key *key) {
    return bs_table_find(&builder->users[key->kind], hash_of(builder->index, key), key->text,
                         key->len)
        ->last;
}

static void choose(struct builder *builder, size_t rule) {
    struct bs_key keys[BS_KEYS_OF_A_RULE];
    size_t n = keys_of(&builder->copies[rule], keys);
    bool second = n > 1 && users_of(builder, &keys[1]) < users_of(builder, &keys[0]);
    if (n > 0)
        builder->chosen[rule] = keys[second];
}

static uint32_t length_bit(size_t len) {
    return UINT32_C(1) << (len < LONGEST_COUNTED ? len : LONGEST_COUNTED);
}

static void note_length(struct bs_index *index, const struct bs_key *key) {
    struct bs_key_lengths *by_first = &index->by_byte[(unsigned char)key->text[0]];
    struct bs_key_lengths *by_last = &index->by_byte[(unsigned char)key->text[key->len - 1]];
    const char *slash = memchr(key->text, '/', key->len);
    size_t first_name = slash != NULL ? (size_t)(slash - key->text) : key->len;
    switch (key->kind) {
    case BS_KEY_TOP:
        by_first->tops |= length_bit(first_name);
        break;
    case BS_KEY_NAME:
        by_first->names |= length_bit(key->len);
        break;
    case BS_KEY_HEAD:
        by_first->heads |= (uint16_t)length_bit(key->len);
        break;
    default:
        by_last->endings |= (uint16_t)length_bit(key->len);
        break;
    }
}

static struct bs_bucket *bucket_of(struct bs_index *index, const struct bs_key *key) {
    bool added = false;
    const struct bs_slot *slot = bs_table_add(&index->keys[key->kind], hash_of(index, key),
                                              key->text, key->len, index->n_buckets, &added);
    if (added)
        index->buckets[index->n_buckets++] = (struct bs_bucket){BS_NO_RULE, BS_NO_RULE, 0, 0};
    return &index->buckets[slot->first];
}

static void add_to_bucket(struct bs_index *index, const struct bs_key *key, int32_t rule) {
    struct bs_bucket *bucket = bucket_of(index, key);
    note_length(index, key);
    if (key->then == BS_KEY_GLOB) {
        bucket->n++;
        return;
    }
    lift(&bucket->last, rule);
    if (key->then == BS_KEY_INSIDE)
        lift(&bucket->inside, rule);
}

/* Add a rule to the bucket of its key. Returns false if the rule does not belong in any bucket. */
static bool add_rule(struct builder *builder, size_t i) {
    struct bs_index *index = builder->index;
    const struct bs_pattern *pattern = &builder->copies[i];
    int32_t rule = (int32_t)i;
    if (is_root(pattern)) {
        lift(&index->root, rule);
    } else if (is_all(pattern)) {
        lift(&index->all, rule);
    } else {
        choose(builder, i);
        if (builder->chosen[i].text != NULL)
            add_to_bucket(index, &builder->chosen[i], rule);
        else if (builder->keyless_too && bs_backtrack_fits(pattern))
            index->buckets[0].n++;
        else
            return false;
    }
    lift(&index->most, rule);
    return true;
}

/* Return the bytes that every match of the glob contains. Separators are left out, because a `**`
 * that matches no segment takes its separator with it. */
static uint64_t literal_bytes(const struct bs_pattern *glob) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < glob->len; i++) {
        if (glob->text[i] != '*' && glob->text[i] != '?' && glob->text[i] != '/')
            bytes |= bs_bytes_of(&glob->text[i], 1);
    }
    return bytes;
}

static void add_candidate(struct bs_index *index, struct bs_bucket *bucket,
                          const struct bs_pattern *glob, size_t rule) {
    index->candidates[bucket->first + bucket->n++] =
        (struct bs_candidate){literal_bytes(glob), *glob, (int32_t)rule};
}

/* Add the candidates, sorted by bucket, and in each bucket the highest rule first. */
static bool add_candidates(struct builder *builder, size_t n, const bool *left) {
    struct bs_index *index = builder->index;
    for (uint32_t i = 0; i < index->n_buckets; i++) {
        index->buckets[i].first = index->n_candidates;
        index->n_candidates += index->buckets[i].n;
        index->buckets[i].n = 0;
    }
    index->candidates = malloc(((size_t)index->n_candidates + 1) * sizeof *index->candidates);
    if (index->candidates == NULL)
        return false;
    for (size_t i = n; i-- > 0;) {
        const struct bs_key *key = &builder->chosen[i];
        const struct bs_pattern *pattern = &builder->copies[i];
        if (left[i] || is_root(pattern) || is_all(pattern))
            continue;
        if (key->text == NULL)
            add_candidate(index, &index->buckets[0], pattern, i);
        else if (key->then == BS_KEY_GLOB)
            add_candidate(index, bucket_of(index, key), &key->glob, i);
    }
    return true;
}

static bool build(struct builder *builder, const struct bs_pattern *patterns, size_t n,
                  bool *left) {
    struct bs_index *index = builder->index;
    if (!copy_patterns(builder, patterns, n, left) || !reserve(builder, n, left))
        return false;
    index->buckets[index->n_buckets++] = (struct bs_bucket){BS_NO_RULE, BS_NO_RULE, 0, 0};
    count_users(builder, n, left);
    for (size_t i = 0; i < n; i++)
        left[i] = left[i] || !add_rule(builder, i);
    return add_candidates(builder, n, left);
}

static const struct bs_index empty = {.root = BS_NO_RULE, .all = BS_NO_RULE, .most = BS_NO_RULE};

bool bs_index_build(struct bs_index *index, const struct bs_pattern *patterns, size_t n,
                    bool keyless_too, bool *left) {
    struct builder builder = {.index = index, .keyless_too = keyless_too};
    *index = empty;
    index->seed = bs_table_seed(index);
    bool good = build(&builder, patterns, n, left);
    for (size_t kind = 0; kind < BS_KEY_KINDS; kind++)
        bs_table_clear(&builder.users[kind]);
    free(builder.copies);
    free(builder.chosen);
    if (!good)
        bs_index_clear(index);
    return good;
}

void bs_index_clear(struct bs_index *index) {
    for (size_t kind = 0; kind < BS_KEY_KINDS; kind++)
        bs_table_clear(&index->keys[kind]);
    free(index->buckets);
    free(index->candidates);
    free(index->texts);
    *index = empty;
}

size_t bs_index_bytes(const struct bs_index *index) {
    size_t bytes = index->texts_len + index->n_buckets * sizeof *index->buckets +
                   index->n_candidates * sizeof *index->candidates;
    for (size_t kind = 0; kind < BS_KEY_KINDS; kind++) {
        if (index->keys[kind].slots != NULL)
            bytes += (index->keys[kind].mask + 1) * sizeof *index->keys[kind].slots;
    }
    return bytes;
}
