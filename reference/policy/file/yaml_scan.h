/* What is refused in a YAML file before it is parsed. */
#ifndef BS_POLICY_FILE_YAML_SCAN_H
#define BS_POLICY_FILE_YAML_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct bs_yaml_scan {
    size_t at;           /* where it was refused */
    const char *problem; /* why, static; NULL: it was not */
    bool is_ascii;       /* every character is one byte */
};

struct bs_yaml_scan bs_yaml_scan(const char *text, size_t len);

#endif
