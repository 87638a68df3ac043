/* Walks through a directory tree. A path that the walk misses gets no mount, and so is not
 * protected. So fts(3) cannot be used: it treats a directory that it cannot read to the end as
 * complete, and dereferences a null pointer if memory runs out. */
#define _GNU_SOURCE
#include "backend/plan/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/list.h"
#include "base/sys.h"

/* Limit on the number of names: a larger workspace would delay each opening of a session too
 * long. */
enum { MOST_NAMES = 2 * 1000 * 1000, CHECK_EVERY = 256 };

/* A directory between the root and the current path. All its entries are read at once, so the walk
 * has at most one open descriptor at any depth. */
struct level {
    struct bs_buf entries; /* for each entry a struct stat and its name with a NUL */
    size_t at;
    size_t path_len;
    struct stat st;
};

struct tree {
    const struct bs_walk *walk;
    struct level *levels;
    size_t depth;
    size_t cap;
    struct bs_buf path;    /* a NUL follows the text, which len does not count */
    unsigned long names;   /* visited so far */
    unsigned long entries; /* read so far */
};

static bool cancelled(int cancel) {
    struct pollfd entry = {.fd = cancel, .events = POLLIN};
    return cancel >= 0 && BS_RETRY(poll(&entry, 1, 0)) == 1;
}

static int no_memory(const struct tree *tree, struct bs_error *err) {
    return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for `%.900s`", tree->walk->root);
}

static struct bs_walk_entry entry_at(const struct tree *tree, const struct stat *st) {
    const char *relative = tree->path.data + strlen(tree->walk->root);
    while (*relative == '/')
        relative++;
    return (struct bs_walk_entry){tree->path.data, relative, st};
}

static bool is_dots(const char *name) {
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static int add_entry(int at, const char *name, size_t path_len, struct bs_buf *entries) {
    struct stat st;
    size_t len = strlen(name);
    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : errno; /* ENOENT: it was removed in the meantime */
    if (path_len + 1 + len >= PATH_MAX)
        return ENAMETOOLONG;
    bs_buf_add(entries, &st, sizeof st);
    bs_buf_add(entries, name, len + 1);
    return entries->failed ? ENOMEM : 0;
}

/* True if a limit is reached, and the caller accepts an incomplete walk. The clock is read for each
 * name, because the work for one name may take milliseconds. */
static bool is_cut(const struct tree *tree) {
    const struct bs_walk *walk = tree->walk;
    if (walk->cut == NULL)
        return false;
    if (tree->entries > MOST_NAMES || bs_now_ns() >= walk->until)
        *walk->cut = true;
    return *walk->cut;
}

/* Read the entries of the current directory, up to the limit of the walk. Returns 0, otherwise an
 * errno. */
static int read_entries(struct tree *tree, struct bs_buf *entries) {
    int fd = bs_above_stdio((int)BS_RETRY(
        open(tree->path.data, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)));
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    int os_error = dir == NULL ? errno : 0;
    while (dir != NULL && os_error == 0) {
        /* a single directory may have millions of entries */
        if (++tree->entries % CHECK_EVERY == 0) {
            os_error = cancelled(tree->walk->cancel) ? ECANCELED : 0;
            if (os_error != 0 || is_cut(tree))
                break;
        }
        errno = 0;
        /* no other thread uses this DIR */
        const struct dirent *entry = readdir(dir); /* NOLINT(concurrency-mt-unsafe) */
        if (entry == NULL) {
            os_error = errno;
            break;
        }
        if (!is_dots(entry->d_name))
            os_error = add_entry(fd, entry->d_name, tree->path.len, entries);
    }
    if (dir != NULL)
        (void)closedir(dir);
    else
        bs_close(&fd);
    return os_error;
}

/* True if the directory was replaced or removed after its name was read. */
static bool is_gone(int os_error) {
    return os_error == ENOENT || os_error == ENOTDIR || os_error == ELOOP;
}

/* True if the caller ran out of memory or descriptors or has cancelled, which ends the walk. Every
 * other error is a property of the directory, which then counts as unreadable: its owner may have
 * removed the permissions, and may restore them inside the sandbox. */
static bool ends_walk(int os_error) {
    return os_error == ENOMEM || os_error == EMFILE || os_error == ENFILE || os_error == ECANCELED;
}

static int push_level(struct tree *tree, const struct stat *st, struct bs_error *err) {
    struct level *levels = bs_list_room(tree->levels, tree->depth, &tree->cap, sizeof *levels);
    if (levels == NULL)
        return no_memory(tree, err);
    tree->levels = levels;
    struct level *level = &levels[tree->depth++];
    *level = (struct level){BS_BUF_INIT, 0, tree->path.len, *st};
    int os_error = read_entries(tree, &level->entries);
    if (os_error == 0)
        return BS_OK;
    level->entries.len = 0;
    if (is_gone(os_error))
        return BS_OK;
    /* A program may have made a directory with more entries than fit in the memory. */
    if (os_error == ENOMEM && level->entries.failed && tree->walk->cut != NULL) {
        *tree->walk->cut = true;
        return BS_OK;
    }
    if (ends_walk(os_error)) {
        char buf[128];
        return bs_fail(err, BS_E_EXECUTION, os_error, "cannot list `%.900s`: %s", tree->path.data,
                       bs_os_message(os_error, buf, sizeof buf));
    }
    const struct bs_walk_entry at = entry_at(tree, st);
    if (tree->walk->unreadable == NULL || tree->walk->unreadable(tree->walk->ctx, &at))
        return BS_OK;
    return no_memory(tree, err);
}

static void pop_level(struct tree *tree) { bs_buf_clear(&tree->levels[--tree->depth].entries); }

/* Visit the current path; `st` was read with the entries of its directory. */
static int visit(struct tree *tree, const struct stat *st, struct bs_error *err) {
    const struct bs_walk *walk = tree->walk;
    const struct bs_walk_entry at = entry_at(tree, st);
    if (++tree->names % CHECK_EVERY == 0 && cancelled(walk->cancel))
        return bs_fail(err, BS_E_EXECUTION, ECANCELED, "cancelled");
    if (!walk->enter(walk->ctx, &at))
        return no_memory(tree, err);
    return S_ISDIR(st->st_mode) ? push_level(tree, st, err) : BS_OK;
}

static void leave_level(struct tree *tree) {
    struct level *level = &tree->levels[tree->depth - 1];
    tree->path.len = level->path_len;
    tree->path.data[tree->path.len] = '\0';
    const struct bs_walk_entry at = entry_at(tree, &level->st);
    if (tree->walk->leave != NULL)
        tree->walk->leave(tree->walk->ctx, &at);
    pop_level(tree);
}

/* Visit the next entry of the deepest directory, or leave the directory after its last entry. */
static int step(struct tree *tree, struct bs_error *err) {
    struct level *level = &tree->levels[tree->depth - 1];
    struct stat st;
    if (level->at == level->entries.len || is_cut(tree)) {
        leave_level(tree);
        return BS_OK;
    }
    tree->path.len = level->path_len;
    tree->path.data[tree->path.len] = '\0';
    memcpy(&st, level->entries.data + level->at, sizeof st);
    const char *name = level->entries.data + level->at + sizeof st;
    level->at += sizeof st + strlen(name) + 1;
    if (tree->path.data[tree->path.len - 1] != '/')
        bs_buf_char(&tree->path, '/');
    bs_buf_add(&tree->path, name, strlen(name) + 1);
    if (tree->path.failed)
        return no_memory(tree, err);
    tree->path.len--;
    return visit(tree, &st, err);
}

int bs_walk_tree(const struct bs_walk *walk, struct bs_error *err) {
    struct tree tree = {.walk = walk, .path = BS_BUF_INIT};
    struct stat st;
    bs_buf_add(&tree.path, walk->root, strlen(walk->root) + 1);
    if (tree.path.failed)
        return no_memory(&tree, err);
    tree.path.len--;
    int code = BS_OK;
    if (lstat(walk->root, &st) == 0)
        code = visit(&tree, &st, err);
    else if (!is_gone(errno))
        code = bs_fail(err, BS_E_EXECUTION, errno, "cannot examine `%.900s`", walk->root);
    while (code == BS_OK && tree.depth > 0)
        code = step(&tree, err);
    while (tree.depth > 0)
        pop_level(&tree);
    free(tree.levels);
    bs_buf_clear(&tree.path);
    return code;
}
