/* Finds the programs that are installed with the library. */
#ifndef BS_BASE_INSTALLED_H
#define BS_BASE_INSTALLED_H

/* Return the real path of the executable file `name` next to the program or the library, or in
 * ../libexec/boxspec of it. The path is malloc'd; NULL if there is none or memory ran out. */
char *bs_find_installed(const char *name);

#endif
