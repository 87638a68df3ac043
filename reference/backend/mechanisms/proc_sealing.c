#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/internal.h"
#include "base/buf.h"
#include "base/error.h"

/* What lies deeper, or among more, is not looked at and counts as what can be written to. */
enum { DEPTH = 3, MOST = 64 };

struct look {
    int left;
    bool found; /* what ends it */
};

/* What everybody may write to is nothing that root alone could. Links lead to what is looked at by
 * its own name, or to a process's. */
static bool is_written_to(mode_t mode) {
    return !S_ISDIR(mode) && !S_ISLNK(mode) && (mode & 0222) != 0 && (mode & 0002) == 0;
}

static bool enter(void *ctx, const struct bs_walked *at) {
    struct look *look = ctx;
    int depth = at->relative[0] != '\0' ? 1 : 0;
    for (const char *c = at->relative; *c != '\0'; c++)
        depth += *c == '/';
    look->found = --look->left < 0 || depth > DEPTH || is_written_to(at->st->st_mode);
    return !look->found;
}

static bool closed(void *ctx, const struct bs_walked *at) {
    (void)at;
    ((struct look *)ctx)->found = true;
    return false;
}

static bool may_be_written(const char *path) {
    struct look look = {.left = MOST};
    struct bs_error err = BS_ERROR_INIT;
    const struct bs_walk walk = {
        .root = path, .ctx = &look, .enter = enter, .closed = closed, .cancel = -1};
    bool walked = bs_walk_tree(&walk, &err) == BS_OK && look.left < MOST;
    return !walked || look.found;
}

void bs_unwritable(const char *proc, struct bs_buf *names) {
    char path[PATH_MAX];
    DIR *entries = opendir(proc);
    const struct dirent *entry = NULL;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        const char *name = entry->d_name;
        if (isdigit((unsigned char)name[0])) /* processes come last, and there may be many */
            break;
        int len = snprintf(path, sizeof path, "%s/%s", proc, name);
        if (name[0] == '.' || strchr(name, ':') != NULL || len >= PATH_MAX || may_be_written(path))
            continue;
        bs_buf_str(names, name);
        bs_buf_char(names, ':');
    }
    if (entries != NULL)
        (void)closedir(entries);
}
