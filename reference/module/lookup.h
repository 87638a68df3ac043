/* Which file an id means. */
#ifndef BS_MODULE_LOOKUP_H
#define BS_MODULE_LOOKUP_H

#include <stdbool.h>

#define BS_MODULE_ROOT "APCORE_EXTENSIONS_ROOT"

bool bs_module_id_is_valid(const char *id);

/* A root as it was given, NULL for the caller's own or the default, made absolute by the working
 * directory and no further. malloc'd; NULL with errno. */
char *bs_module_root(const char *given);

/* The file, links resolved, malloc'd. NULL: there is no such module in this (absolute) root, or,
 * with errno ENOMEM, nobody knows. */
char *bs_module_find(const char *root, const char *id);

#endif
