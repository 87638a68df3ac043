/* Finds the names that files of a workspace have through mounts: a directory or a file that is
 * mounted in two places has a name in each of them. */
#ifndef BS_BACKEND_PLAN_MOUNTED_NAMES_H
#define BS_BACKEND_PLAN_MOUNTED_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* A file or directory at or below the root, and another path to it. Both are absolute. */
struct bs_mounted_name {
    char *path;
    char *other; /* in the root or outside of it */
};

struct bs_mounted_names {
    struct bs_mounted_name *list;
    size_t n;
    size_t cap;
};

/* Read the mounts of the calling process. Returns 0, otherwise an errno: ENOMEM, or the error of
 * reading the list of mounts. Clear *names in both cases. */
int bs_mounted_names_find(const char *root, struct bs_mounted_names *names);
void bs_mounted_names_clear(struct bs_mounted_names *names);

/* Set *other to the path that `name` gives to the file at `path`, or to a file below it. The path
 * comes from malloc; it is NULL if there is none. *is_dir is true if that file is a directory.
 * Returns false if memory ran out. */
bool bs_mounted_name_of(const struct bs_mounted_name *name, const char *path, char **other,
                        bool *is_dir);

#endif
