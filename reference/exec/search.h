/* Find the file that a program name means. */
#ifndef BS_EXEC_SEARCH_H
#define BS_EXEC_SEARCH_H

/* `dir` is the directory that relative names start from: a descriptor or AT_FDCWD. `path` is the
 * PATH of the child; NULL means the default of the system. Returns 0 with *found malloc'd, a path
 * that is valid in `dir`, or an errno: EACCES if a candidate exists but may not be executed, ENOENT
 * if none exists. */
int bs_search(int dir, const char *program, const char *path, char **found);

#endif
