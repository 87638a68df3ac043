#include "policy/match/names.h"

#include <stdlib.h>

enum { FEWEST_HEADS = 64, FILTER_BITS_PER_NAME = 16, FEWEST_FILTER_BITS = 512 };

/* False: it takes too long. */
static bool file(struct bs_names *names, uint32_t node, uint64_t mixed) {
    uint32_t at = (uint32_t)(mixed >> names->shift);
    for (uint32_t probe = 0; probe < BS_NAMES_MOST_PROBES; probe++) {
        uint32_t *head = &names->heads[(at + probe) & (names->n_heads - 1)];
        if (*head == 0) {
            *head = node << BS_NAMES_TAG_BITS | bs_names_tag(mixed);
            return true;
        }
    }
    return false;
}

static size_t length_of(const struct bs_trie_node *node) { return node->id >> 1; }

static bool is_kept(const struct bs_name_key *key, bool wild) { return wild || key->len > 16; }

static uint64_t mixed_of(const struct bs_names *names, const struct bs_trie_node *nodes,
                         uint32_t node) {
    const struct bs_trie_node *filed = &nodes[node];
    struct bs_name_key key = {.first = filed->first, .last = filed->last};
    key.len = length_of(filed);
    if (key.len > 16)
        key.text = names->texts + names->text_at[node];
    key.hash = bs_name_hash(&key);
    return bs_names_mix(key.hash, filed->from);
}

static bool set_heads(struct bs_names *names, uint32_t n) {
    names->heads = calloc(n, sizeof *names->heads);
    names->n_heads = n;
    names->shift = 64 - (uint32_t)__builtin_ctz(n);
    return names->heads != NULL;
}

bool bs_names_init(struct bs_names *names) {
    *names = (struct bs_names){0};
    return set_heads(names, FEWEST_HEADS);
}

/* Half of the heads is taken at most. */
static enum bs_names_result reserve_heads(struct bs_names *names,
                                          const struct bs_trie_node *nodes) {
    if (names->n_heads >= 2 * (names->n + 1))
        return BS_NAMES_OK;
    struct bs_names grown = *names;
    if (!set_heads(&grown, names->n_heads * 2))
        return BS_NAMES_NO_MEMORY;
    for (uint32_t i = 0; i < names->n_heads; i++) {
        uint32_t node = names->heads[i] >> BS_NAMES_TAG_BITS;
        if (node != 0 && !file(&grown, node, mixed_of(names, nodes, node))) {
            free(grown.heads);
            return BS_NAMES_COLLIDE;
        }
    }
    free(names->heads);
    *names = grown;
    return BS_NAMES_OK;
}

static bool reserve_texts(struct bs_names *names, uint32_t node, size_t len) {
    if (node >= names->cap_nodes) {
        uint32_t cap = node < 32 ? 64 : node * 2;
        uint32_t *grown = realloc(names->text_at, cap * sizeof *grown);
        if (grown == NULL)
            return false;
        names->text_at = grown;
        names->cap_nodes = cap;
    }
    if (names->texts_len + len > names->texts_cap) {
        size_t cap = (names->texts_len + len) * 2;
        char *grown = realloc(names->texts, cap);
        if (grown == NULL)
            return false;
        names->texts = grown;
        names->texts_cap = cap;
    }
    return true;
}

enum bs_names_result bs_names_add(struct bs_names *names, struct bs_trie_node *nodes, uint32_t node,
                                  const struct bs_name_key *key, bool wild) {
    if (node >= BS_NAMES_MOST_NODES || key->len > UINT32_MAX >> 1)
        return BS_NAMES_COLLIDE;
    enum bs_names_result result = reserve_heads(names, nodes);
    if (result != BS_NAMES_OK)
        return result;
    if (is_kept(key, wild)) {
        if (!reserve_texts(names, node, key->len))
            return BS_NAMES_NO_MEMORY;
        memcpy(names->texts + names->texts_len, key->text, key->len);
        names->text_at[node] = (uint32_t)names->texts_len;
        names->texts_len += key->len;
    }
    if (!wild)
        nodes[nodes[node].from].hashes |= bs_names_hash_bit(key);
    nodes[node].first = key->first;
    nodes[node].last = key->last;
    nodes[node].id = (uint32_t)bs_name_id(key->len, wild);
    if (!file(names, node, bs_names_mix(key->hash, nodes[node].from)))
        return BS_NAMES_COLLIDE;
    names->n++;
    return BS_NAMES_OK;
}

static size_t filter_bits(const struct bs_names *names) {
    return names->filter == NULL ? 0 : (size_t)1 << (64 - names->filter_shift);
}

/* A literal name under a gap: a node is a gap that its parent says so of. */
static bool is_under_gap(const struct bs_trie_node *nodes, uint32_t node) {
    uint32_t from = nodes[node].from;
    return nodes[node].id != 0 && (nodes[node].id & 1) == 0 && from != 0 &&
           nodes[nodes[from].from].gap == from;
}

bool bs_names_settle(struct bs_names *names, const struct bs_trie_node *nodes, uint32_t n_nodes) {
    size_t n = 0;
    for (uint32_t i = 1; i < n_nodes; i++)
        n += is_under_gap(nodes, i);
    size_t bits = FEWEST_FILTER_BITS;
    while (bits < n * FILTER_BITS_PER_NAME)
        bits *= 2;
    names->filter = calloc(bits / 64, sizeof *names->filter);
    if (names->filter == NULL)
        return false;
    names->filter_shift = 64 - (uint32_t)__builtin_ctzll(bits);
    for (uint32_t i = 1; i < n_nodes; i++) {
        if (!is_under_gap(nodes, i))
            continue;
        uint64_t bit = bs_names_filter_at(names, nodes[i].first);
        names->filter[bit / 64] |= UINT64_C(1) << bit % 64;
    }
    return true;
}

void bs_names_clear(struct bs_names *names) {
    free(names->heads);
    free(names->texts);
    free(names->text_at);
    free(names->filter);
    *names = (struct bs_names){0};
}

size_t bs_names_bytes(const struct bs_names *names) {
    return names->n_heads * sizeof *names->heads + names->texts_cap +
           names->cap_nodes * sizeof *names->text_at + filter_bits(names) / 8;
}
