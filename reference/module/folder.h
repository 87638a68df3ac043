/* The temporary directory of one execution. */
#ifndef BS_MODULE_FOLDER_H
#define BS_MODULE_FOLDER_H

#include <stdbool.h>

/* Make an empty directory of mode 0700 below the caller's TMPDIR or /tmp. Returns its absolute
 * path, malloc'd, or NULL with errno. */
char *bs_module_folder_make(void);

/* Remove the directory and its content without following links or entering mounts. Gives up after
 * about `within_ms` if a process keeps writing to it. Returns false if it still exists. */
bool bs_module_folder_remove(const char *path, unsigned within_ms);

#endif
