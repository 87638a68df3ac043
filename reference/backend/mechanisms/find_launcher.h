/* Finding boxspec-launch. */
#ifndef BS_BACKEND_MECHANISMS_FIND_LAUNCHER_H
#define BS_BACKEND_MECHANISMS_FIND_LAUNCHER_H

#include <boxspec/error.h>

/* Returns the real path of `given`, or of the launcher next to the program or the library if it is
 * NULL; malloc'd. NULL: *err says why. */
char *bs_launcher_find(const char *given, struct bs_error *err);

#endif
