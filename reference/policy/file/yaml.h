/* The parts of the YAML reader that need no parser. */
#ifndef BS_POLICY_FILE_YAML_H
#define BS_POLICY_FILE_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/file/node.h"

/* Bytes that are refused in a file before it is parsed. */
struct bs_yaml_scan {
    size_t at;           /* where it was refused */
    const char *problem; /* why, static; NULL: it was not */
    bool is_ascii;       /* every character is one byte */
};

struct bs_yaml_scan bs_yaml_scan(const char *text, size_t len);

/* The meaning of a plain scalar by the core schema (YAML 1.2.2, section 10.3). */
enum bs_node_kind bs_plain_scalar_kind(const char *text, size_t len);

#endif
