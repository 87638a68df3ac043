/* Finds the program boxspec-launch. */
#ifndef BS_BACKEND_MECHANISMS_FIND_LAUNCHER_H
#define BS_BACKEND_MECHANISMS_FIND_LAUNCHER_H

#include <boxspec/error.h>

/* Return the real path of `given`. If `given` is NULL, find the launcher near the program or the
 * library. The path is malloc'd; NULL after an error, with *err filled. */
char *bs_launcher_find(const char *given, struct bs_error *err);

#endif
