/* The directory of one execution. */
#ifndef BS_MODULE_FOLDER_H
#define BS_MODULE_FOLDER_H

#include <stdbool.h>

/* Makes an empty one, 0700, below the caller's TMPDIR or /tmp; its absolute path, malloc'd. NULL
 * with errno. */
char *bs_module_folder_make(void);

/* Removes it with everything in it, links not followed, for `within_ms` at most against somebody
 * who keeps writing. False when it is still there. */
bool bs_module_folder_remove(const char *path, unsigned within_ms);

#endif
