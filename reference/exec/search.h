/* Find the file that a program name means. */
#ifndef BS_EXEC_SEARCH_H
#define BS_EXEC_SEARCH_H

/* `dir` is where relative names start: a descriptor or AT_FDCWD. `path` is the child's PATH; NULL:
 * the system's default. Returns 0 with *found malloc'd, valid inside `dir`, or an errno: EACCES if
 * a candidate exists but may not be executed, ENOENT if none exists. */
int bs_search(int dir, const char *program, const char *path, char **found);

#endif
