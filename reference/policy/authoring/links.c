#define _GNU_SOURCE
#include <boxspec/profile.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/sys.h"

/* A directory that is being read. `path_len` is the length of the path before the directory was
 * added, to restore the path later. */
struct level {
    DIR *dir;
    size_t path_len;
};

struct walk {
    struct level levels[BS_LINKS_MOST_DEPTH];
    size_t depth;
    struct bs_buf path; /* of the deepest directory, without a slash at its end */
    uint64_t most;
    bool (*found)(void *ctx, const struct bs_link *link);
    void *ctx;
    struct bs_links_report *report;
};

/* Add a directory to the stack. The stack owns `fd` from then on. Returns false if the directory
 * could not be read. */
static bool push_folder(struct walk *walk, int fd) {
    DIR *dir = fd >= 0 && walk->depth < BS_LINKS_MOST_DEPTH ? fdopendir(fd) : NULL;
    if (dir == NULL) {
        bs_close(&fd);
        return false;
    }
    walk->levels[walk->depth++] = (struct level){dir, walk->path.len};
    return true;
}

static void pop_folder(struct walk *walk) {
    (void)closedir(walk->levels[--walk->depth].dir);
    walk->path.len = walk->depth > 0 ? walk->levels[walk->depth - 1].path_len : 0;
}

static int open_folder(int at, const char *name) {
    return bs_above_stdio((int)BS_RETRY(
        openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)));
}

static void push_name(struct walk *walk, const char *name) {
    if (walk->path.len > 0)
        bs_buf_char(&walk->path, '/');
    bs_buf_add(&walk->path, name, strlen(name) + 1);
    if (!walk->path.failed)
        walk->path.len--; /* the NUL stays after the text but does not count */
}

static void examine(struct walk *walk, const char *name) {
    struct bs_links_report *report = walk->report;
    const struct level *level = &walk->levels[walk->depth - 1];
    size_t path_len = level->path_len;
    int at = dirfd(level->dir);
    struct stat st;
    report->looked_at++;
    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        report->unreadable += errno != ENOENT; /* ENOENT: it was removed meanwhile */
        return;
    }
    push_name(walk, name);
    if (walk->path.failed)
        return;
    if (S_ISDIR(st.st_mode)) {
        if (push_folder(walk, open_folder(at, name)))
            return;
        report->unreadable++;
    } else if (st.st_nlink > 1) {
        const struct bs_link link = {walk->path.data, st.st_nlink, st.st_dev, st.st_ino};
        report->found++;
        report->stopped |= !walk->found(walk->ctx, &link);
    }
    walk->path.len = path_len;
}

static bool is_dots(const char *name) {
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static void walk_all(struct walk *walk) {
    while (walk->depth > 0 && !walk->report->stopped && !walk->path.failed) {
        errno = 0;
        /* No other call uses this DIR. */
        const struct dirent *entry =
            readdir(walk->levels[walk->depth - 1].dir); /* NOLINT(concurrency-mt-unsafe) */
        if (entry == NULL) {
            walk->report->unreadable += errno != 0;
            pop_folder(walk);
        } else if (!is_dots(entry->d_name)) {
            if (walk->report->looked_at == walk->most)
                walk->report->stopped = true;
            else
                examine(walk, entry->d_name);
        }
    }
}

int bs_policy_links(const char *root, uint64_t most,
                    bool (*found)(void *ctx, const struct bs_link *link), void *ctx,
                    struct bs_links_report *report, struct bs_error *err) {
    struct walk walk = {
        .path = BS_BUF_INIT, .most = most, .found = found, .ctx = ctx, .report = report};
    *report = (struct bs_links_report){0};
    int fd = bs_above_stdio((int)BS_RETRY(open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
    if (!push_folder(&walk, fd)) {
        char buf[128];
        int os_error = errno;
        return bs_fail(err, BS_E_IO, os_error, "cannot read the folder `%.900s`: %s", root,
                       bs_os_message(os_error, buf, sizeof buf));
    }
    walk_all(&walk);
    while (walk.depth > 0)
        pop_folder(&walk);
    int code =
        walk.path.failed ? bs_fail(err, BS_E_EXECUTION, 0, "out of memory for a path") : BS_OK;
    bs_buf_clear(&walk.path);
    return code;
}
