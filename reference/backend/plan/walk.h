/* A walk through a directory tree from its root down. It does not follow links. */
#ifndef BS_BACKEND_PLAN_WALK_H
#define BS_BACKEND_PLAN_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include <boxspec/error.h>

struct bs_walk_entry {
    const char *path;     /* absolute */
    const char *relative; /* to the root; "" for the root itself */
    const struct stat *st;
};

/* `enter` and `unreadable` return false if memory ran out, which ends the walk. */
struct bs_walk {
    const char *root;
    void *ctx;
    bool (*enter)(void *ctx, const struct bs_walk_entry *at);
    void (*leave)(void *ctx, const struct bs_walk_entry *at); /* a directory; may be NULL */
    /* A directory that cannot be listed, between its `enter` and its `leave`; may be NULL. */
    bool (*unreadable)(void *ctx, const struct bs_walk_entry *at);
    int cancel; /* a descriptor or -1 */
    /* NULL: the walk has no limits. Otherwise it ends at `until` (of bs_now_ns) and after two
     * million names: it sets *cut and leaves the directories that it is in. */
    bool *cut;
    uint64_t until;
};

/* Returns 0 after the whole tree, or after a part of it with *cut set; otherwise a negative code.
 */
int bs_walk_tree(const struct bs_walk *walk, struct bs_error *err);

#endif
