#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/internal.h"
#include "base/error.h"
#include "base/sys.h"

/* What any program inside can write to must not hold the plan by which it is confined. */
static bool is_granted(const struct bs_backend_context *context, const char *dir) {
    if (context->root != NULL && bs_is_below(dir, context->root))
        return true;
    const char *home = getenv("HOME");
    if (context->confine != BS_CONFINE_FULL_DEV || home == NULL)
        return false;
    char *cache = NULL;
    if (asprintf(&cache, "%s/.cache", home) < 0)
        return true;
    char *real = realpath(cache, NULL);
    bool granted = real != NULL && bs_is_below(dir, real);
    free(real);
    free(cache);
    return granted;
}

int bs_hideout_make(const struct bs_backend_context *context, char **path, struct bs_error *err) {
    const char *const candidates[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp",
                                      "/var/tmp", "/dev/shm"};
    int os_error = ENOENT;
    *path = NULL;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        char *dir = candidates[i] != NULL ? realpath(candidates[i], NULL) : NULL;
        char *made = NULL;
        if (dir != NULL && !is_granted(context, dir) &&
            asprintf(&made, "%s/boxspec-XXXXXX", dir) >= 0 && mkdtemp(made) == NULL) {
            os_error = errno;
            free(made);
            made = NULL;
        }
        free(dir);
        if (made == NULL)
            continue;
        *path = made;
        return BS_OK;
    }
    char buf[128];
    return bs_fail(err, BS_E_IO, os_error,
                   "no directory outside of the workspace can be made: %s; set TMPDIR to one",
                   bs_os_message(os_error, buf, sizeof buf));
}

static int fail_at(const char *place, const char *name, int os_error, struct bs_error *err) {
    char buf[128];
    return bs_fail(err, BS_E_IO, os_error, "`%.900s/%s` cannot be made: %s", place, name,
                   bs_os_message(os_error, buf, sizeof buf));
}

int bs_hideout_add(const char *place, const char *name, const void *data, size_t len, unsigned mode,
                   struct bs_error *err) {
    char *path = NULL;
    if (asprintf(&path, "%s/%s", place, name) < 0)
        return fail_at(place, name, ENOMEM, err);
    int fd = (int)BS_RETRY(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    int os_error = fd < 0 ? errno : 0;
    free(path);
    size_t done = 0;
    while (os_error == 0 && done < len) {
        ssize_t n = (ssize_t)BS_RETRY(write(fd, (const char *)data + done, len - done));
        if (n < 0)
            os_error = errno;
        else
            done += (size_t)n;
    }
    if (os_error == 0 && fchmod(fd, mode) != 0)
        os_error = errno;
    bs_close(&fd);
    return os_error == 0 ? BS_OK : fail_at(place, name, os_error, err);
}

int bs_hideout_add_dir(const char *place, const char *name, unsigned mode, struct bs_error *err) {
    char *path = NULL;
    if (asprintf(&path, "%s/%s", place, name) < 0)
        return fail_at(place, name, ENOMEM, err);
    int os_error = mkdir(path, mode) == 0 && chmod(path, mode) == 0 ? 0 : errno;
    free(path);
    return os_error == 0 ? BS_OK : fail_at(place, name, os_error, err);
}

static int remove_below(int parent, const char *name, unsigned depth);

static int remove_entries(int dir, unsigned depth) {
    enum { DEEPEST = 512 };
    int copy = fcntl(dir, F_DUPFD_CLOEXEC, 3);
    DIR *list = copy >= 0 && depth < DEEPEST ? fdopendir(copy) : NULL;
    if (list == NULL) {
        int os_error = depth < DEEPEST ? errno : ENAMETOOLONG;
        bs_close(&copy);
        return os_error;
    }
    int os_error = 0;
    const struct dirent *entry = NULL;
    while ((entry = readdir(list)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int failed = remove_below(dirfd(list), entry->d_name, depth + 1);
        if (failed != 0)
            os_error = failed;
    }
    (void)closedir(list);
    return os_error;
}

static int remove_below(int parent, const char *name, unsigned depth) {
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return errno;
    /* A program may have taken its own rights away from what it made in the scratch. It is a
     * directory, as unlinkat said, and nobody is left to exchange it. */
    (void)fchmodat(parent, name, 0700, 0);
    int dir = (int)BS_RETRY(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (dir < 0)
        return errno;
    int os_error = remove_entries(dir, depth);
    bs_close(&dir);
    if (unlinkat(parent, name, AT_REMOVEDIR) == 0)
        return 0;
    return os_error != 0 ? os_error : errno;
}

int bs_hideout_remove(char *place, struct bs_error *err) {
    if (place == NULL)
        return BS_OK;
    /* Descriptors or memory that were short for a moment leave no secret behind. */
    enum { TIMES = 3 };
    int os_error = EAGAIN;
    for (int i = 0; i < TIMES && os_error != 0; i++)
        os_error = remove_below(AT_FDCWD, place, 0);
    char buf[128];
    int code = BS_OK;
    if (os_error != 0)
        code = bs_fail(err, BS_E_IO, os_error, "`%.900s` cannot be removed: %s", place,
                       bs_os_message(os_error, buf, sizeof buf));
    free(place);
    return code;
}
