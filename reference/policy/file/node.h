/* A file as a tree, the same for both formats. Each node knows its place in the file. */
#ifndef BS_POLICY_FILE_NODE_H
#define BS_POLICY_FILE_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bs_arena;
struct bs_problems;

enum bs_node_kind {
    BS_NODE_NULL,
    BS_NODE_BOOLEAN,
    BS_NODE_INTEGER,
    BS_NODE_REAL,
    BS_NODE_STRING,
    BS_NODE_LIST,
    BS_NODE_MAP
};

/* It is small because a file of single digits has half as many nodes as bytes. */
struct bs_node {
    struct bs_node *next; /* sibling */
    union {
        const char *text;      /* of a scalar as written, of a string decoded; no NUL follows */
        struct bs_node *first; /* of a list; of a map: key, value, key, value, ... */
    };
    uint32_t len; /* bytes of text; items; members */
    uint32_t line;
    uint32_t column;
    enum bs_node_kind kind;
};

/* A well-formed file. The caller of the reader clears it; a second clear has no effect. */
struct bs_document {
    struct bs_node *root;
    struct bs_arena *arena;
};

#define BS_DOCUMENT_INIT                                                                           \
    { 0, 0 }

void bs_document_clear(struct bs_document *document);

/* The first reason why a file is not well-formed. Only this one is reported. */
struct bs_flaw {
    uint32_t line;
    uint32_t column;
    const char *message; /* static, or `words` */
    char words[256];
};

/* Whether the node is this string. `text` is not empty. */
bool bs_node_is(const struct bs_node *node, const char *text);

/* The value of the first member of that name, or NULL. */
const struct bs_node *bs_node_member(const struct bs_node *map, const char *name);

/* Keys that a map has twice, which cJSON and libyaml both hand over: reports each repetition in the
 * whole tree at its key, and takes it out of the tree. The first value counts from then on. */
void bs_duplicates_drop(struct bs_node *root, struct bs_problems *problems);

#endif
