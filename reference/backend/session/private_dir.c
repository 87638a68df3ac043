#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/internal.h"
#include "base/error.h"
#include "base/sys.h"

/* Of one session. Nothing else that this project makes is called so: what is, and is locked by
 * nobody, was left by a caller that was killed. */
#define NAME "sandbox-of-boxspec-XXXXXX"
enum { PREFIX = sizeof NAME - 1 - 6, SWEEP_MS = 1000, COPIED_AT_ONCE = 1 << 20 };

bool bs_is_granted(const struct bs_backend_context *context, const char *also, const char *dir) {
    if (context->root != NULL && bs_is_below(dir, context->root))
        return true;
    if (also != NULL && bs_is_below(dir, also))
        return true;
    char *cache = NULL;
    if (context->confine != BS_CONFINE_FULL_DEV)
        return false;
    if (!bs_context_cache(NULL, &cache))
        return true;
    bool granted = cache != NULL && bs_is_below(dir, cache);
    free(cache);
    return granted;
}

/* Whether it is ours: nobody else holds it, and nobody has removed it before we did. */
static bool hold(const char *path, int *lock, int *os_error) {
    struct stat st;
    *os_error = 0;
    *lock = -1;
    if (chmod(path, S_IRWXU) == 0) /* whatever the umask has left of its mode */
        *lock = bs_above_stdio((int)BS_RETRY(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
    if (*lock < 0) {
        *os_error = errno == ENOENT ? 0 : errno;
        return false;
    }
    /* A file system without locks has none for a sweep either. */
    bool held = flock(*lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (held && fstat(*lock, &st) != 0)
        *os_error = errno; /* it may be ours: who made it removes it */
    else if (held && st.st_nlink > 0)
        return true;
    bs_close(lock);
    return false;
}

/* Removes what killed callers left in `dir`. The kernel lets go of a lock when its holder dies. */
static void sweep(const char *dir) {
    uint64_t until = bs_after_ms(bs_now_ns(), SWEEP_MS);
    DIR *list = opendir(dir);
    const struct dirent *entry = NULL;
    struct stat st;
    while (list != NULL && bs_now_ns() < until && (entry = readdir(list)) != NULL) {
        const char *name = entry->d_name;
        if (strlen(name) != sizeof NAME - 1 || strncmp(name, NAME, PREFIX) != 0 ||
            fstatat(dirfd(list), name, &st, AT_SYMLINK_NOFOLLOW) != 0 || st.st_uid != geteuid())
            continue;
        int fd = (int)BS_RETRY(
            openat(dirfd(list), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
            (void)bs_tree_remove(dirfd(list), name, until);
        bs_close(&fd);
    }
    if (list != NULL)
        (void)closedir(list);
}

/* In one directory: 0, or errno. */
static int make_in(const char *dir, struct bs_hideout *made) {
    enum { TIMES = 8 };
    int os_error = 0;
    char *path = NULL;
    /* Between its making and its lock it looks as if its maker were dead. */
    for (int i = 0; i < TIMES && made->path == NULL && os_error == 0; i++) {
        if (asprintf(&path, "%s/" NAME, dir) < 0)
            return ENOMEM;
        if (mkdtemp(path) == NULL)
            os_error = errno;
        else if (hold(path, &made->lock, &os_error))
            made->path = path;
        else if (os_error != 0)
            (void)rmdir(path);
        if (made->path == NULL)
            free(path);
    }
    return made->path != NULL ? 0 : os_error == 0 ? EAGAIN : os_error;
}

int bs_hideout_make(const struct bs_backend_context *context, const char *also,
                    struct bs_hideout *made, struct bs_error *err) {
    const char *const candidates[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp",
                                      "/var/tmp", "/dev/shm"};
    int os_error = ENOENT;
    *made = (struct bs_hideout)BS_HIDEOUT_INIT;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        char *dir = candidates[i] != NULL ? realpath(candidates[i], NULL) : NULL;
        if (dir != NULL && !bs_is_granted(context, also, dir)) {
            sweep(dir);
            os_error = make_in(dir, made);
        }
        free(dir);
        if (made->path != NULL)
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

/* 0 or an errno. */
static int make_file(const char *place, const char *name, int *fd) {
    char *path = NULL;
    if (asprintf(&path, "%s/%s", place, name) < 0)
        return ENOMEM;
    *fd = (int)BS_RETRY(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    int os_error = *fd < 0 ? errno : 0;
    free(path);
    return os_error;
}

int bs_hideout_copy(const char *place, const char *name, const char *file, struct bs_error *err) {
    int to = -1;
    int from = (int)BS_RETRY(open(file, O_RDONLY | O_CLOEXEC));
    int os_error = from < 0 ? errno : make_file(place, name, &to);
    ssize_t n = 1;
    while (os_error == 0 && n > 0) {
        n = (ssize_t)BS_RETRY(sendfile(to, from, NULL, COPIED_AT_ONCE));
        os_error = n < 0 ? errno : 0;
    }
    if (os_error == 0 && fchmod(to, 0500) != 0)
        os_error = errno;
    bs_close(&from);
    bs_close(&to);
    return os_error == 0 ? BS_OK : fail_at(place, name, os_error, err);
}

int bs_hideout_add(const char *place, const char *name, const void *data, size_t len, unsigned mode,
                   struct bs_error *err) {
    int fd = -1;
    int os_error = make_file(place, name, &fd);
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

int bs_hideout_remove(struct bs_hideout *hideout, struct bs_error *err) {
    char *place = hideout->path;
    if (place == NULL)
        return BS_OK;
    /* Descriptors or memory that were short for a moment leave no secret behind. */
    enum { TIMES = 3 };
    int os_error = EAGAIN;
    for (int i = 0; i < TIMES && os_error != 0; i++)
        os_error = bs_tree_remove(AT_FDCWD, place, BS_NEVER);
    char buf[128];
    int code = BS_OK;
    if (os_error != 0)
        code = bs_fail(err, BS_E_IO, os_error, "`%.900s` cannot be removed: %s", place,
                       bs_os_message(os_error, buf, sizeof buf));
    free(place);
    hideout->path = NULL;
    bs_close(&hideout->lock);
    return code;
}
