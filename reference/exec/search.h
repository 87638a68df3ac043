/* Which file a program name means. */
#ifndef BS_EXEC_SEARCH_H
#define BS_EXEC_SEARCH_H

/* `dir` is the directory that relative names start from: a descriptor or AT_FDCWD. `path` is the
 * PATH that the child will have, NULL for the system's default. On 0 *found is malloc'd, to be
 * spawned from inside `dir`. Else an errno: EACCES when a candidate existed, ENOENT when none did.
 */
int bs_search(int dir, const char *program, const char *path, char **found);

#endif
