/* Walks through a directory tree from its root down, without following links. */
#ifndef BS_BACKEND_PLAN_WALK_H
#define BS_BACKEND_PLAN_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include <boxspec/error.h>

struct bs_walk_entry {
    const char *path;     /* absolute */
    const char *relative; /* relative to the root; "" is the root itself */
    const struct stat *st;
};

/* The functions that a walk calls. `enter` and `unreadable` return false if memory ran out, which
 * ends the walk. */
struct bs_walk {
    const char *root;
    void *ctx;
    bool (*enter)(void *ctx, const struct bs_walk_entry *at);
    /* called after the contents of a directory; may be NULL */
    void (*leave)(void *ctx, const struct bs_walk_entry *at);
    /* Called for a directory that cannot be listed, between its `enter` and its `leave`; may be
     * NULL. */
    bool (*unreadable)(void *ctx, const struct bs_walk_entry *at);
    int cancel; /* a descriptor or -1 */
    /* If `cut` is NULL, the walk has no limits. Otherwise the walk ends at the time `until` (of
     * bs_now_ns) or after two million names. Then it sets *cut, and calls `leave` for the
     * directories that it is in. */
    bool *cut;
    uint64_t until;
};

/* Returns 0 after the whole tree, or after a part of it with *cut set; otherwise a negative
 * code. */
int bs_walk_tree(const struct bs_walk *walk, struct bs_error *err);

#endif
