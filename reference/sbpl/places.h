/* Checks all absolute paths of an input. */
#ifndef BS_SBPL_PLACES_H
#define BS_SBPL_PLACES_H

#include <boxspec/sbpl.h>

#include "sbpl/bodies.h"

struct bs_places {
    struct bs_bytes root;
    struct bs_bytes home; /* data is NULL if not set; the same holds for the next two paths */
    struct bs_bytes codex_home;
    struct bs_bytes claude_config_dir;
    struct bs_bytes *side_roots;
    size_t n_side_roots;
};

/* Check all absolute paths and copy them. Returns 0; BS_E_INVALID for an invalid path, for a
 * variable that would make all of HOME writable and, for codex, for a side root that overlaps a
 * path which must not be read; BS_E_EXECUTION if memory ran out. After an error *places need not be
 * closed. */
int bs_places_open(const struct bs_sbpl_input *input, const struct bs_both_bodies *both,
                   struct bs_places *places, struct bs_error *err);
void bs_places_close(struct bs_places *places);

/* Write the name of side_roots[i] for messages into a buffer of BS_SIDE_ROOT_NAME bytes. Returns
 * `buf`. */
enum { BS_SIDE_ROOT_NAME = 48 };
const char *bs_places_side_root(size_t i, char *buf);

#endif
