#define _GNU_SOURCE
#include "backend/session/private_dir.h"

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

#include "backend/session/context.h"
#include "backend/session/links.h"
#include "base/error.h"
#include "base/sys.h"

/* Only private directories have such a name. So if a directory of this name is not locked, the
 * process that made it was killed. */
#define NAME "sandbox-of-boxspec-XXXXXX"
enum { PREFIX = sizeof NAME - 1 - 6, LEFTOVERS_MS = 300, COPIED_AT_ONCE = 1 << 20 };

bool bs_is_granted(const struct bs_backend_context *context, const char *also_writable,
                   const char *path) {
    if (context->root != NULL && bs_is_below(path, context->root))
        return true;
    if (also_writable != NULL && bs_is_below(path, also_writable))
        return true;
    char *cache = NULL;
    if (context->confine != BS_CONFINE_FULL_DEV)
        return false;
    if (!bs_context_cache(NULL, &cache))
        return true;
    bool granted = cache != NULL && bs_is_below(path, cache);
    free(cache);
    return granted;
}

/* Lock a new directory. Returns false with *os_error 0 if another process has locked or removed it,
 * because it looked like a leftover. */
static bool lock_dir(const char *path, int *lock, int *os_error) {
    struct stat st;
    *os_error = 0;
    *lock = -1;
    if (chmod(path, S_IRWXU) == 0) /* the umask may have removed bits of the mode */
        *lock = bs_above_stdio((int)BS_RETRY(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
    if (*lock < 0) {
        *os_error = errno == ENOENT ? 0 : errno;
        return false;
    }
    /* EWOULDBLOCK means that another process has locked the directory. Any other error means that
     * the file system has no locks. Then no other process can lock the directory either, so it
     * counts as locked. */
    bool locked = flock(*lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (locked && fstat(*lock, &st) != 0)
        *os_error = errno; /* no return here: the caller must remove the directory */
    else if (locked && st.st_nlink > 0)
        return true;
    bs_close(lock);
    return false;
}

/* Remove the private directories that killed processes left in `dir`. They are not locked: the
 * kernel releases the lock of a process when it ends. */
static void remove_leftovers(const char *dir) {
    uint64_t until = bs_after_ms(bs_now_ns(), LEFTOVERS_MS);
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
            (void)bs_remove_tree(dirfd(list), name, until);
        bs_close(&fd);
    }
    if (list != NULL)
        (void)closedir(list);
}

/* Make a private directory in `dir`. Returns 0 or an errno. */
static int make_in(const char *dir, struct bs_private_dir *made) {
    enum { TIMES = 8 };
    int os_error = 0;
    char *path = NULL;
    /* Try several times. Until the new directory is locked, it looks like a leftover, and another
     * process may remove it. */
    for (int i = 0; i < TIMES && made->path == NULL && os_error == 0; i++) {
        if (asprintf(&path, "%s/" NAME, dir) < 0)
            return ENOMEM;
        if (mkdtemp(path) == NULL)
            os_error = errno;
        else if (lock_dir(path, &made->lock, &os_error))
            made->path = path;
        else if (os_error != 0)
            (void)rmdir(path);
        if (made->path == NULL)
            free(path);
    }
    return made->path != NULL ? 0 : os_error == 0 ? EAGAIN : os_error;
}

struct writable {
    const struct bs_backend_context *context;
    const char *also;
};

static bool is_writable(const char *link, const void *data) {
    const struct writable *writable = data;
    return bs_is_granted(writable->context, writable->also, link);
}

int bs_private_dir_make(const struct bs_backend_context *context, const char *also_writable,
                        struct bs_private_dir *made, struct bs_error *err) {
    const char *const candidates[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp",
                                      "/var/tmp", "/dev/shm"};
    const struct writable writable = {context, also_writable};
    int os_error = ENOENT;
    *made = (struct bs_private_dir)BS_PRIVATE_DIR_INIT;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        char *dir = candidates[i] != NULL ? realpath(candidates[i], NULL) : NULL;
        if (dir != NULL && !bs_is_granted(context, also_writable, dir) &&
            !bs_link_may_be_replaced(candidates[i], is_writable, &writable)) {
            remove_leftovers(dir);
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

static int fail_at(const char *dir, const char *name, int os_error, struct bs_error *err) {
    char buf[128];
    return bs_fail(err, BS_E_IO, os_error, "`%.900s/%s` cannot be made: %s", dir, name,
                   bs_os_message(os_error, buf, sizeof buf));
}

/* Returns 0 or an errno. */
static int make_file(const char *dir, const char *name, int *fd) {
    char *path = NULL;
    if (asprintf(&path, "%s/%s", dir, name) < 0)
        return ENOMEM;
    *fd = (int)BS_RETRY(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    int os_error = *fd < 0 ? errno : 0;
    free(path);
    return os_error;
}

int bs_private_dir_copy_file(const char *dir, const char *name, const char *file,
                             struct bs_error *err) {
    int to = -1;
    int from = (int)BS_RETRY(open(file, O_RDONLY | O_CLOEXEC));
    int os_error = from < 0 ? errno : make_file(dir, name, &to);
    ssize_t n = 1;
    while (os_error == 0 && n > 0) {
        n = (ssize_t)BS_RETRY(sendfile(to, from, NULL, COPIED_AT_ONCE));
        os_error = n < 0 ? errno : 0;
    }
    if (os_error == 0 && fchmod(to, 0500) != 0)
        os_error = errno;
    bs_close(&from);
    bs_close(&to);
    return os_error == 0 ? BS_OK : fail_at(dir, name, os_error, err);
}

int bs_private_dir_add_file(const char *dir, const char *name, const void *data, size_t len,
                            unsigned mode, struct bs_error *err) {
    int fd = -1;
    int os_error = make_file(dir, name, &fd);
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
    return os_error == 0 ? BS_OK : fail_at(dir, name, os_error, err);
}

int bs_private_dir_add_dir(const char *dir, const char *name, unsigned mode, struct bs_error *err) {
    char *path = NULL;
    if (asprintf(&path, "%s/%s", dir, name) < 0)
        return fail_at(dir, name, ENOMEM, err);
    int os_error = mkdir(path, mode) == 0 && chmod(path, mode) == 0 ? 0 : errno;
    free(path);
    return os_error == 0 ? BS_OK : fail_at(dir, name, os_error, err);
}

int bs_private_dir_remove(struct bs_private_dir *dir, struct bs_error *err) {
    char *path = dir->path;
    if (path == NULL)
        return BS_OK;
    /* Try several times, because the plan must not stay on disk, and a shortage of descriptors or
     * memory may end soon. */
    enum { TIMES = 3 };
    int os_error = EAGAIN;
    for (int i = 0; i < TIMES && os_error != 0; i++)
        os_error = bs_remove_tree(AT_FDCWD, path, BS_NEVER);
    char buf[128];
    int code = BS_OK;
    if (os_error != 0)
        code = bs_fail(err, BS_E_IO, os_error, "`%.900s` cannot be removed: %s", path,
                       bs_os_message(os_error, buf, sizeof buf));
    free(path);
    dir->path = NULL;
    bs_close(&dir->lock);
    return code;
}
