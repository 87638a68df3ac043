/* Finds the file of a module by the module's id. */
#ifndef BS_MODULE_LOOKUP_H
#define BS_MODULE_LOOKUP_H

#include <stdbool.h>

#define BS_MODULE_ROOT "APCORE_EXTENSIONS_ROOT"

bool bs_module_id_is_valid(const char *id);

/* Return the extensions root as an absolute path, without resolving links. If `given` is NULL, the
 * root is APCORE_EXTENSIONS_ROOT of the caller or the default. The path comes from malloc. Returns
 * NULL with errno after an error. */
char *bs_module_root(const char *given);

/* Return the path of the module's file, with links resolved, from malloc. `root` is absolute.
 * Returns NULL if the root has no such module; NULL with errno ENOMEM means that memory ran out. */
char *bs_module_find(const char *root, const char *id);

#endif
