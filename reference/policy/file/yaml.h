/* The parts of the YAML reader that do not use libyaml. */
#ifndef BS_POLICY_FILE_YAML_H
#define BS_POLICY_FILE_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/file/node.h"

/* A scan of a text, before it is parsed, for bytes that are refused. */
struct bs_yaml_scan {
    size_t at;           /* offset of the first refused byte */
    const char *problem; /* a static message; NULL if no byte was refused */
    bool is_ascii;       /* the text is ASCII, so offsets in characters and bytes are equal */
};

struct bs_yaml_scan bs_yaml_scan(const char *text, size_t len);

/* Return the type of a plain scalar according to the core schema (YAML 1.2.2, section 10.3). */
enum bs_node_kind bs_plain_scalar_kind(const char *text, size_t len);

#endif
