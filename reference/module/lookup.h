/* Find the file that a module id means. */
#ifndef BS_MODULE_LOOKUP_H
#define BS_MODULE_LOOKUP_H

#include <stdbool.h>

#define BS_MODULE_ROOT "APCORE_EXTENSIONS_ROOT"

bool bs_module_id_is_valid(const char *id);

/* Return the extensions root as an absolute path; links are not resolved. `given` may be NULL: the
 * caller's APCORE_EXTENSIONS_ROOT or the default. malloc'd; NULL with errno. */
char *bs_module_root(const char *given);

/* Return the path of the module's file, links resolved, malloc'd. Returns NULL if the absolute
 * `root` has no such module, or with errno ENOMEM if memory ran out. */
char *bs_module_find(const char *root, const char *id);

#endif
