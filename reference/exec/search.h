/* Find the file that a program name means. */
#ifndef BS_EXEC_SEARCH_H
#define BS_EXEC_SEARCH_H

/* Search for the file of `program`. Relative names start from the directory `dir`, a descriptor or
 * AT_FDCWD. `path` is the PATH of the child; NULL means the default of the system. Returns 0 and
 * sets *found to a path that is valid in `dir`, from malloc. Returns an errno if there is none:
 * EACCES if a candidate exists but may not be executed, ENOENT if none exists. */
int bs_search(int dir, const char *program, const char *path, char **found);

#endif
