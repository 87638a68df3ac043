/* A mounted directory with a file, for tests of removals. */
#ifndef BS_TESTS_MOUNTED_H
#define BS_TESTS_MOUNTED_H

#include <stdbool.h>

/* Mount a new directory of mode 0755 with one file at `point`, call remove(path), and return true
 * if the mounted directory and its file have not changed. This is done in a child with its own
 * mount namespace. Skips the test if this user cannot mount. */
bool mounted_stays(const char *point, const char *path, bool (*remove)(const char *path));

#endif
