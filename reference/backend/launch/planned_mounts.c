/* Checks that bubblewrap made each mount at its planned place.
 *
 * bubblewrap looks up the source and the destination of a mount by their names, at different times.
 * Another process that may write to the workspace, for example a program of a second session, can
 * replace a directory by a link in between. The mount would then show a directory outside, or a
 * denied path would stay without its mount. So pid 1 looks at each place before the program starts:
 * the place itself, not a link, is the root of a mount, and that mount shows the file which the
 * launcher finds outside under the name of the source, without a link too. A link cannot give
 * another file this name, whenever it was replaced. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/launch/launch.h"
#include "base/sys.h"

/* The C library of the launcher may have no statx. */
struct statx_head {
    uint32_t mask;
    uint32_t block_size;
    uint64_t attributes;
    uint32_t ids[3];
    uint16_t mode[2];
    uint64_t sizes[3];
    uint64_t known_attributes;
    uint64_t rest[24];
};

enum { MOUNT_ROOT = 0x2000 };

/* Open a path for its properties. No part of it may be a link. Returns -1 with errno. */
static int open_without_links(const char *path) {
    int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (at >= 0 && *path != '\0') {
        char name[NAME_MAX + 1];
        path += strspn(path, "/");
        size_t len = strcspn(path, "/");
        if (len > NAME_MAX) {
            bs_close(&at);
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(name, path, len);
        name[len] = '\0';
        path += len;
        int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC | (*path != '\0' ? O_DIRECTORY : 0);
        int next = len > 0 ? openat(at, name, flags) : fcntl(at, F_DUPFD_CLOEXEC, 0);
        int os_error = errno;
        bs_close(&at);
        errno = os_error;
        at = next;
    }
    return at;
}

/* Find the file that a path names. Without `links`, no part of the path may be a link, and the path
 * must not be one. */
static bool find_file(const char *path, bool links, struct stat *st) {
    int fd = links ? open(path, O_PATH | O_CLOEXEC) : open_without_links(path);
    bool good = fd >= 0 && fstat(fd, st) == 0 && !S_ISLNK(st->st_mode);
    bs_close(&fd);
    return good;
}

static bool is_below(const char *path, const char *dir) {
    size_t len = strcmp(dir, "/") != 0 ? strlen(dir) : 0;
    return strncmp(path, dir, len) == 0 && path[len] == '/' && path[len + 1] != '\0';
}

/* True if the plan has this path checked for a mount at word `at` of the command line. */
static bool is_checked(const struct plan *plan, size_t at, const char *path) {
    for (size_t i = 0; i < plan->n_checked; i++) {
        if (at >= plan->checked[i].from && is_below(path, plan->checked[i].dir))
            return true;
    }
    return false;
}

/* Add the text `KIND DEVICE INODE PATH`. KIND is `t` for a new file system, which has no source;
 * otherwise `r` for a read-only mount and `w` for another. If the source is not found, device and
 * inode are 0, which pid 1 refuses. */
static void add_mount(struct bs_buf *out, char kind, const struct stat *source, const char *path) {
    char head[64];
    (void)snprintf(head, sizeof head, "%c %" PRIu64 " %" PRIu64 " ", kind, (uint64_t)source->st_dev,
                   (uint64_t)source->st_ino);
    bs_buf_str(out, head);
    bs_buf_add(out, path, strlen(path) + 1);
}

bool planned_mounts_describe(const struct plan *plan, struct bs_buf *out, size_t *n) {
    *n = 0;
    for (size_t i = 0; i + 1 < plan->n_args; i++) {
        bool reads = strcmp(plan->args[i], "--ro-bind") == 0;
        bool binds = reads || strcmp(plan->args[i], "--bind") == 0;
        if (!binds && strcmp(plan->args[i], "--tmpfs") != 0)
            continue;
        size_t first = i + 1;
        i += binds ? 2 : 1;
        if (i >= plan->n_args || !is_checked(plan, first, plan->args[i]))
            continue;
        const char *source = plan->args[first];
        struct stat st;
        if (!binds || !find_file(source, !is_checked(plan, first, source), &st))
            st = (struct stat){.st_ino = 0};
        add_mount(out, reads ? 'r' : binds ? 'w' : 't', &st, plan->args[i]);
        (*n)++;
    }
    return !out->failed;
}

/* True if the descriptor is the root of a mount. Kernels before 5.8 cannot tell; there only the
 * file is compared. */
static bool is_mount_root(int fd) {
    struct statx_head st;
    memset(&st, 0, sizeof st);
    if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, 0, &st) != 0)
        return errno == ENOSYS || errno == EPERM;
    return (st.known_attributes & MOUNT_ROOT) == 0 || (st.attributes & MOUNT_ROOT) != 0;
}

static bool is_as_planned(int fd, char kind, uint64_t device, uint64_t inode) {
    struct stat st;
    struct statvfs fs;
    if (fstat(fd, &st) != 0 || fstatvfs(fd, &fs) != 0 || !is_mount_root(fd))
        return false;
    unsigned long wanted = ST_NOSUID | ST_NODEV | (kind == 'r' ? ST_RDONLY : 0);
    return (fs.f_flag & wanted) == wanted &&
           (kind == 't' || (st.st_dev == device && st.st_ino == inode && inode != 0));
}

bool planned_mounts_check(const char *text, struct bs_launch_failure *failure) {
    char *rest = NULL;
    char kind = text[0];
    uint64_t device = strtoull(text + 1, &rest, 10);
    uint64_t inode = strtoull(rest, &rest, 10);
    const char *path = rest + 1;
    int fd = open_without_links(path);
    bool good = fd >= 0 && is_as_planned(fd, kind, device, inode);
    bs_close(&fd);
    char words[sizeof failure->words];
    (void)snprintf(words, sizeof words, "`%.*s` was replaced during the start",
                   (int)sizeof words / 2, path);
    return good || set_failure(failure, BS_LAUNCH_SANDBOX, 0, words);
}
