/* Finds the names that a file of the workspace has through symbolic links, to the file itself or to
 * a directory above it. A rule about one of these names is a rule about the file. A directory that
 * is mounted in two places of the workspace counts as two links. */
#ifndef BS_BACKEND_PLAN_SYMLINK_NAMES_H
#define BS_BACKEND_PLAN_SYMLINK_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* A link whose target lies in the root. Both paths are relative to the root; "" is the root. */
struct bs_inner_link {
    char *path;
    char *target;     /* path without links */
    bool replaceable; /* programs in the sandbox may remove or rename the link */
};

/* All links of a workspace. Begin with a zeroed struct, add every link, sort once, then look up
 * names. */
struct bs_inner_links {
    struct bs_inner_link *list;
    size_t n;
    size_t cap;
};

/* Add a link; both texts are copied. Returns false if memory ran out. */
bool bs_inner_links_add(struct bs_inner_links *links, const char *path, const char *target,
                        bool replaceable);
void bs_inner_links_sort(struct bs_inner_links *links);
void bs_inner_links_clear(struct bs_inner_links *links);

/* Most names that are reported for one file. */
#define BS_MOST_LINKED_NAMES 1024

/* Call `each` for every other name of `path`. A name uses each link at most once, so a link to a
 * directory above itself adds only a finite number of names. `replaceable` is true if programs in
 * the sandbox can replace one of the links in the name. Returns 0, EOVERFLOW if names are missing
 * because of a limit, or ENOMEM. */
int bs_linked_names(const struct bs_inner_links *links, const char *path,
                    void (*each)(void *ctx, const char *name, bool replaceable), void *ctx);

#endif
