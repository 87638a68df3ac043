/* Names that a file of the workspace has because a symbolic link leads to it or to a directory
 * above it. A policy is a list of names, so a rule on one of these names is a rule on the file. */
#ifndef BS_BACKEND_PLAN_SYMLINK_NAMES_H
#define BS_BACKEND_PLAN_SYMLINK_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* A link whose target lies in the root. Both paths are relative to the root; "" is the root. */
struct bs_inner_link {
    char *path;
    char *target;     /* without links */
    bool replaceable; /* programs inside may remove or rename the link */
};

/* Starts zeroed. Add every link, sort once, then ask. */
struct bs_inner_links {
    struct bs_inner_link *list;
    size_t n;
    size_t cap;
};

/* Both texts are copied. False: out of memory. */
bool bs_inner_links_add(struct bs_inner_links *links, const char *path, const char *target,
                        bool replaceable);
void bs_inner_links_sort(struct bs_inner_links *links);
void bs_inner_links_clear(struct bs_inner_links *links);

/* Names that one file may have through links; a file with more is reported as cut. */
#define BS_MOST_LINKED_NAMES 1024

/* Calls `each` for every other name of `path`. A name goes through a link at most once, so a link
 * that leads to a directory above itself ends. `replaceable`: one of the links of this name can be
 * replaced. Returns 0; EOVERFLOW when names were left out; ENOMEM. */
int bs_linked_names(const struct bs_inner_links *links, const char *path,
                    void (*each)(void *ctx, const char *name, bool replaceable), void *ctx);

#endif
