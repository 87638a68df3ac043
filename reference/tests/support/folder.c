#define _GNU_SOURCE
#include "support/folder.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/harness.h"

/* Choose the name of the folder. TMPDIR is used only if it is short, so that paths in tests keep
 * their lengths. The name has no links, because tests compare it with the name that the kernel
 * reports. */
static void name_folder(struct folder *folder) {
    static const char name[] = "/boxspec-unit.XXXXXX";
    static const char *const places[] = {"TMPDIR", "/tmp"};
    for (size_t i = 0; i < LENGTH(places); i++) {
        const char *place = i == 0 ? getenv(places[i]) : places[i];
        char *real = place != NULL ? realpath(place, NULL) : NULL;
        bool fits = real != NULL && strlen(real) + sizeof name <= sizeof folder->path;
        if (fits)
            (void)snprintf(folder->path, sizeof folder->path, "%s%s", real, name);
        free(real);
        if (fits)
            return;
    }
}

int folder_setup(void **state) {
    struct folder *folder = calloc(1, sizeof *folder);
    if (folder == NULL)
        return -1;
    name_folder(folder);
    if (mkdtemp(folder->path) == NULL) {
        free(folder);
        return -1;
    }
    folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *state = folder;
    return folder->fd >= 0 ? 0 : -1;
}

static int delete_one(const char *path, const struct stat *st, int kind, struct FTW *place) {
    (void)st;
    (void)kind;
    (void)place;
    return remove(path);
}

int folder_teardown(void **state) {
    struct folder *folder = *state;
    (void)close(folder->fd);
    int rc = nftw(folder->path, delete_one, 8, FTW_DEPTH | FTW_PHYS);
    free(folder);
    return rc;
}

void folder_add_file(const struct folder *folder, const char *name, const char *text, mode_t mode) {
    int fd = openat(folder->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    (void)close(fd);
}

void folder_add_folder(const struct folder *folder, const char *name) {
    assert_int_equal(mkdirat(folder->fd, name, 0700), 0);
}
