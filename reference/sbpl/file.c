#define _GNU_SOURCE
#include <boxspec/sbpl.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sys.h"
#include "sbpl/writable.h"

static int write_all(int fd, const char *text, size_t len) {
    while (len > 0) {
        ssize_t n = (ssize_t)BS_RETRY(write(fd, text, len));
        if (n < 0)
            return errno;
        text += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Make the file. The profile decides what the sandbox permits, so no other user may be able to
 * write to the file. Its name is new and cannot be guessed, and its mode does not depend on the
 * umask. Returns an errno. */
static int make(char *path, const char *text, size_t len) {
    int fd = mkostemps(path, sizeof ".sb" - 1, O_CLOEXEC);
    if (fd < 0)
        return errno;
    int os_error = fchmod(fd, S_IRUSR | S_IWUSR) == 0 ? write_all(fd, text, len) : errno;
    if (os_error != 0)
        (void)unlink(path);
    bs_close(&fd);
    return os_error;
}

/* True if the text allows writing to the path. The kernel compares paths without links, so the
 * links are resolved first. A path that cannot be resolved is compared as it is. */
static bool is_writable(const char *path, const char *text, size_t len) {
    char *resolved = realpath(path, NULL);
    bool may = bs_sbpl_may_write(text, len, resolved != NULL ? resolved : path);
    free(resolved);
    return may;
}

int bs_sbpl_file_make(const char *dir, const char *text, size_t len, struct bs_sbpl_file *file,
                      struct bs_error *err) {
    char *path = NULL;
    if (dir[0] != '/')
        return bs_fail(err, BS_E_INVALID, 0,
                       "dir: `%.400s` is not absolute; name a directory from `/` on", dir);
    if (asprintf(&path, "%s/boxspec-XXXXXX.sb", dir) < 0)
        return bs_fail(err, BS_E_EXECUTION, 0, "out of memory for the name of a file");
    int os_error = make(path, text, len);
    if (os_error != 0) {
        char buf[128];
        free(path);
        return bs_fail(err, BS_E_IO, os_error,
                       "%.400s: the profile's file cannot be made there: %s; name a directory that "
                       "you may write to",
                       dir, bs_os_message(os_error, buf, sizeof buf));
    }
    *file = (struct bs_sbpl_file){path, is_writable(path, text, len)};
    return BS_OK;
}

void bs_sbpl_file_remove(struct bs_sbpl_file *file) {
    if (file->path != NULL)
        (void)unlink(file->path);
    free(file->path);
    *file = (struct bs_sbpl_file)BS_SBPL_FILE_INIT;
}
