/* Finds the symbolic links on the way to a path. If a program may write to the directory of such a
 * link, it can choose, or has already chosen, where the path leads. */
#ifndef BS_BACKEND_SESSION_LINKS_H
#define BS_BACKEND_SESSION_LINKS_H

#include <stdbool.h>

/* Tells whether programs may replace the link at this real path. */
typedef bool bs_may_replace(const char *link, const void *data);

/* True if one of the links on the way along the absolute `path`, including its last component, may
 * be replaced. Also true if the links cannot be followed to the end. */
bool bs_link_may_be_replaced(const char *path, bs_may_replace *may_replace, const void *data);

#endif
