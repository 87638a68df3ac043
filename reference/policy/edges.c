#include "policy/edges.h"

#include <stdlib.h>

static void put(struct bs_edge *slots, uint32_t n_slots, struct bs_edge edge) {
    uint32_t slot = bs_edges_slot(edge.from, edge.by) & (n_slots - 1);
    while (slots[slot].to != 0)
        slot = (slot + 1) & (n_slots - 1);
    slots[slot] = edge;
}

static bool reserve(struct bs_edges *edges) {
    if (edges->n_slots >= 2 * (edges->n + 1))
        return true;
    uint32_t n = edges->n_slots == 0 ? 64 : edges->n_slots * 2;
    struct bs_edge *slots = calloc(n, sizeof *slots);
    if (slots == NULL)
        return false;
    for (uint32_t i = 0; i < edges->n_slots; i++) {
        if (edges->slots[i].to != 0)
            put(slots, n, edges->slots[i]);
    }
    free(edges->slots);
    edges->slots = slots;
    edges->n_slots = n;
    return true;
}

bool bs_edges_add(struct bs_edges *edges, uint32_t from, uint32_t by, uint32_t to) {
    if (!reserve(edges))
        return false;
    put(edges->slots, edges->n_slots, (struct bs_edge){from, by, to});
    edges->n++;
    return true;
}

void bs_edges_clear(struct bs_edges *edges) {
    free(edges->slots);
    *edges = (struct bs_edges){0};
}

size_t bs_edges_bytes(const struct bs_edges *edges) {
    return edges->n_slots * sizeof *edges->slots;
}
