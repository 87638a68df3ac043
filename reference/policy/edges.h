/* A hash table from two numbers to one. */
#ifndef BS_POLICY_EDGES_H
#define BS_POLICY_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bs_edge {
    uint32_t from;
    uint32_t by;
    uint32_t to; /* 0: free */
};

struct bs_edges {
    struct bs_edge *slots;
    uint32_t n_slots; /* a power of two; 0 before the first */
    uint32_t n;
};

/* There must be none yet, and `to` is not 0. False when memory ran out. */
bool bs_edges_add(struct bs_edges *edges, uint32_t from, uint32_t by, uint32_t to);
void bs_edges_clear(struct bs_edges *edges);
size_t bs_edges_bytes(const struct bs_edges *edges);

static inline uint32_t bs_edges_slot(uint32_t from, uint32_t by) {
    return (uint32_t)(((uint64_t)from << 32 | by) * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

/* 0: none. */
static inline uint32_t bs_edges_find(const struct bs_edges *edges, uint32_t from, uint32_t by) {
    if (edges->n_slots == 0)
        return 0;
    uint32_t mask = edges->n_slots - 1;
    for (uint32_t slot = bs_edges_slot(from, by) & mask;; slot = (slot + 1) & mask) {
        const struct bs_edge *edge = &edges->slots[slot];
        if (edge->to == 0 || (edge->from == from && edge->by == by))
            return edge->to;
    }
}

#endif
