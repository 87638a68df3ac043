/* The names that a file of the workspace has through symbolic links, to itself or to a directory
 * above it. A rule on one of these names is a rule on the file. */
#ifndef BS_BACKEND_PLAN_SYMLINK_NAMES_H
#define BS_BACKEND_PLAN_SYMLINK_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* A link with a target in the root. Both paths are relative to the root; "" is the root. */
struct bs_inner_link {
    char *path;
    char *target;     /* without links */
    bool replaceable; /* programs inside may remove or rename the link */
};

/* Zero it, add every link, sort once, then look up names. */
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

/* Limit for the names of one file. */
#define BS_MOST_LINKED_NAMES 1024

/* Calls `each` for every other name of `path`. A name goes through the same link at most once, so a
 * link to a directory above itself adds a finite number of names. `replaceable`: programs inside
 * can replace one of the links of this name. Returns 0; EOVERFLOW if names are missing because of a
 * limit; ENOMEM. */
int bs_linked_names(const struct bs_inner_links *links, const char *path,
                    void (*each)(void *ctx, const char *name, bool replaceable), void *ctx);

#endif
