/* A file as a tree, with the same nodes for JSON and YAML. Each node has its position in the
 * file. */
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

/* A node must be small: a file of single digits has half as many nodes as bytes. */
struct bs_node {
    struct bs_node *next; /* the next item or member of the same container */
    union {
        /* a scalar as it is written, a string decoded; without a NUL at the end */
        const char *text;
        /* the first item of a list; in a map the key, followed by its value, the next key, ... */
        struct bs_node *first;
    };
    uint32_t len; /* bytes of text, or the number of items or members */
    uint32_t line;
    uint32_t column;
    enum bs_node_kind kind;
};

/* The tree of a well-formed file. The caller clears it; a second clear has no effect. */
struct bs_document {
    struct bs_node *root;
    struct bs_arena *arena;
};

#define BS_DOCUMENT_INIT                                                                           \
    { 0, 0 }

void bs_document_clear(struct bs_document *document);

/* The first reason why a file is not well-formed. The reader stops there, so it reports no further
 * reason. */
struct bs_flaw {
    uint32_t line;
    uint32_t column;
    const char *message; /* a static string, or `words` */
    char words[256];
};

/* True if the node is a string with this text. `text` is not empty. */
bool bs_node_is(const struct bs_node *node, const char *text);

/* Return the value of the first member of that name, or NULL. */
const struct bs_node *bs_node_member(const struct bs_node *map, const char *name);

/* Find keys that occur twice in a map, because cJSON and libyaml return both. Each repetition is
 * reported at its key and removed from the tree, so only the first value remains. */
void bs_duplicates_drop(struct bs_node *root, struct bs_problems *problems);

#endif
