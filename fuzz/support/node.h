/* A well-formed file as a tree, made by one of the two readers of this folder. The readers and the
 * judge (support/judge.h) use no code of the reference, because the reference is compared with
 * them. */
#ifndef BS_FUZZ_NODE_H
#define BS_FUZZ_NODE_H

#include <stddef.h>
#include <stdint.h>

enum bs_fuzz_kind {
    BS_FUZZ_NULL,
    BS_FUZZ_BOOLEAN,
    BS_FUZZ_INTEGER,
    BS_FUZZ_REAL,
    BS_FUZZ_STRING,
    BS_FUZZ_LIST,
    BS_FUZZ_MAP
};

struct bs_fuzz_place {
    uint32_t line;   /* from 1 */
    uint32_t column; /* from 1, in code points */
};

struct bs_fuzz_node {
    enum bs_fuzz_kind kind;
    struct bs_fuzz_place place;
    const char *text; /* the text of a scalar; a string is decoded; a NUL follows */
    size_t len;
    struct bs_fuzz_node *first; /* first item of a list; of a map: key, value, key, value, ... */
    struct bs_fuzz_node *next;
};

#endif
