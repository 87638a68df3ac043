/* A folder for one test. It is deleted with everything in it. */
#ifndef BS_TESTS_FOLDER_H
#define BS_TESTS_FOLDER_H

#include <sys/types.h>

struct folder {
    char path[64];
    int fd;
};

/* Set-up and tear-down for cmocka: *state is a struct folder. */
int folder_setup(void **state);
int folder_teardown(void **state);

/* `name` is a path inside the folder for both functions. */
void folder_add_file(const struct folder *folder, const char *name, const char *text, mode_t mode);
void folder_add_folder(const struct folder *folder, const char *name);

#endif
