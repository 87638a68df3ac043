#define _GNU_SOURCE
#include "policy/path/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sys.h"

/* The state of a walk. A walk has one open descriptor, of the directory that it has reached. It
 * opens each component without following links, and examines the open file. So the walk continues
 * from the examined file, even if another program replaces names meanwhile. The root is recognised
 * by its device and inode, because a link may leave the root and come back to it under another
 * name. */
struct walk {
    int root_fd;
    struct stat root;
    int folder; /* the directory reached so far; -1: the root */
    bool inside;
    /* the names from the root to the current place; valid while `inside` is true */
    struct bs_buf names;
    size_t missing;        /* how many of these names, at the end, do not exist */
    struct bs_buf pending; /* the components still to walk, in reverse order; a NUL precedes each */
    unsigned links;
    struct bs_error *err;
};

static int out_of_memory(struct walk *walk) {
    return bs_fail(walk->err, BS_E_EXECUTION, 0, "out of memory for the links of a path");
}

static int cannot_look(struct walk *walk, const char *name, int os_error) {
    char buf[128];
    return bs_fail(walk->err, BS_E_IO, os_error, "cannot examine `%.900s`: %s", name,
                   bs_os_message(os_error, buf, sizeof buf));
}

static int here(const struct walk *walk) {
    return walk->folder >= 0 ? walk->folder : walk->root_fd;
}

/* Push the components in reverse order, so that the next one is always at the end. */
static void push_components(struct walk *walk, const char *path, size_t len) {
    while (len > 0) {
        size_t start = len;
        while (start > 0 && path[start - 1] != '/')
            start--;
        if (len > start && !(len - start == 1 && path[start] == '.')) {
            bs_buf_char(&walk->pending, '\0');
            bs_buf_add(&walk->pending, path + start, len - start);
        }
        len = start > 0 ? start - 1 : 0;
    }
}

/* Move the next component into `name`, with a NUL. Returns the component's length, or 0 if it is
 * longer than NAME_MAX. */
static size_t pop_component(struct walk *walk, char *name) {
    const char *data = walk->pending.data;
    size_t end = walk->pending.len;
    size_t start = end;
    while (data[start - 1] != '\0')
        start--;
    walk->pending.len = start - 1;
    if (end - start > NAME_MAX)
        return 0;
    memcpy(name, data + start, end - start);
    name[end - start] = '\0';
    return end - start;
}

static void push_name(struct walk *walk, const char *name, size_t len) {
    if (!walk->inside)
        return;
    if (walk->names.len > 0)
        bs_buf_char(&walk->names, '/');
    bs_buf_add(&walk->names, name, len);
}

static void pop_name(struct walk *walk) {
    while (walk->names.len > 0 && walk->names.data[--walk->names.len] != '/')
        continue;
}

/* Continue in a directory. The walk owns `fd` from then on. */
static int enter(struct walk *walk, int fd, const struct stat *st) {
    bs_close(&walk->folder);
    walk->folder = fd;
    if (st->st_dev == walk->root.st_dev && st->st_ino == walk->root.st_ino) {
        walk->inside = true;
        walk->names.len = 0;
    }
    return BS_OK;
}

/* Open a directory. If it cannot be opened, record the error and return -1. */
static int open_folder(struct walk *walk, int at, const char *name, struct stat *st) {
    int fd = bs_above_stdio((int)BS_RETRY(openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC)));
    if (fd >= 0 && fstat(fd, st) == 0)
        return fd;
    (void)cannot_look(walk, name, errno);
    bs_close(&fd);
    return -1;
}

static int go_up(struct walk *walk) {
    if (walk->missing > 0) {
        walk->missing--;
        pop_name(walk);
        return BS_OK;
    }
    struct stat st;
    int fd = open_folder(walk, here(walk), "..", &st);
    if (fd < 0)
        return BS_E_IO;
    walk->inside = walk->inside && walk->names.len > 0;
    pop_name(walk);
    return enter(walk, fd, &st);
}

static int restart_at_top(struct walk *walk) {
    struct stat st;
    int fd = open_folder(walk, AT_FDCWD, "/", &st);
    if (fd < 0)
        return BS_E_IO;
    walk->inside = false;
    walk->names.len = 0;
    return enter(walk, fd, &st);
}

/* False for a link of /proc. The kernel follows such a link to an object, which need not be at the
 * place that the text of the link names. */
static bool says_where_it_leads(int link) {
    struct statfs fs;
    return fstatfs(link, &fs) == 0 && fs.f_type != PROC_SUPER_MAGIC;
}

static int follow_link(struct walk *walk, int link, const char *name) {
    if (++walk->links > BS_MOST_LINKS)
        return bs_fail(walk->err, BS_E_IO, ELOOP,
                       "too many symbolic links: more than %d on the way, at `%.900s`",
                       BS_MOST_LINKS, name);
    if (!says_where_it_leads(link)) {
        walk->pending.len = 0;
        walk->inside = false;
        return BS_OK;
    }
    char target[PATH_MAX];
    ssize_t len = readlinkat(link, "", target, sizeof target);
    if (len < 0)
        return cannot_look(walk, name, errno);
    if ((size_t)len == sizeof target)
        return cannot_look(walk, name, ENAMETOOLONG);
    push_components(walk, target, (size_t)len);
    return target[0] == '/' ? restart_at_top(walk) : BS_OK;
}

/* Called if a component is missing or is not a directory. The name stays in the result, because
 * this is where the file would be created, or where creating it would fail. */
static int note_missing(struct walk *walk, const char *name, size_t len) {
    push_name(walk, name, len);
    walk->missing++;
    return BS_OK;
}

static int step(struct walk *walk, const char *name, size_t len, bool follow) {
    if (walk->missing > 0)
        return note_missing(walk, name, len);
    int fd =
        bs_above_stdio((int)BS_RETRY(openat(here(walk), name, O_PATH | O_NOFOLLOW | O_CLOEXEC)));
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return note_missing(walk, name, len);
    struct stat st;
    int code = BS_OK;
    if (fd < 0 || fstat(fd, &st) != 0) {
        code = cannot_look(walk, name, errno);
    } else if (S_ISDIR(st.st_mode)) {
        push_name(walk, name, len);
        return enter(walk, fd, &st);
    } else if (S_ISLNK(st.st_mode) && follow) {
        code = follow_link(walk, fd, name);
    } else {
        code = note_missing(walk, name, len);
    }
    bs_close(&fd);
    return code;
}

static int walk_all(struct walk *walk, enum bs_follow follow) {
    char name[NAME_MAX + 1];
    int code = fstat(walk->root_fd, &walk->root) == 0 ? BS_OK : cannot_look(walk, "/", errno);
    while (code == BS_OK && walk->pending.len > 0) {
        if (walk->pending.failed || walk->names.failed)
            return out_of_memory(walk);
        size_t len = pop_component(walk, name);
        if (len == 0)
            return bs_fail(walk->err, BS_E_IO, ENAMETOOLONG,
                           "the path leads through a name of more than %d bytes", NAME_MAX);
        bool is_last = walk->pending.len == 0;
        if (strcmp(name, "..") == 0)
            code = go_up(walk);
        else
            code = step(walk, name, len, !is_last || follow == BS_FOLLOW_FINAL);
    }
    return code;
}

int bs_walk(int root_fd, const char *path, size_t len, enum bs_follow follow,
            struct bs_place *place, struct bs_error *err) {
    struct walk walk = {.root_fd = root_fd, .folder = -1, .inside = true, .err = err};
    int code = BS_OK;
    /* Refuse a path that the system would not look up. The walk would look it up, because it looks
     * up one name at a time. */
    if (len >= PATH_MAX)
        code = bs_fail(err, BS_E_IO, ENAMETOOLONG,
                       "the path has %zu bytes; the system looks up %d at most", len, PATH_MAX - 1);
    else
        push_components(&walk, path, len);
    if (code == BS_OK)
        code = walk_all(&walk, follow);
    if (code == BS_OK && walk.inside && walk.names.len == 0)
        bs_buf_char(&walk.names, '.');
    if (code == BS_OK && (walk.names.failed || walk.pending.failed))
        code = out_of_memory(&walk);
    bs_close(&walk.folder);
    bs_buf_clear(&walk.pending);
    place->inside = walk.inside;
    place->path = walk.names;
    return code;
}
