#define _GNU_SOURCE
#include "backend/mechanisms/proc_sealing.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/plan/walk.h"
#include "base/buf.h"
#include "base/error.h"

/* An entry that exceeds these limits counts as writable, so that the search stays short. */
enum { MAX_DEPTH = 3, MAX_FILES = 64 };

struct search {
    int left;   /* number of files that may still be examined */
    bool found; /* a writable file was found or a limit reached; the search ends */
};

/* True if the mode lets the owner or the group write, but not every user. Root gains nothing from a
 * file that every user may write to. A link is skipped, because its target is checked under its own
 * name, or belongs to a process. */
static bool is_writable(mode_t mode) {
    return !S_ISDIR(mode) && !S_ISLNK(mode) && (mode & 0222) != 0 && (mode & 0002) == 0;
}

static bool enter(void *ctx, const struct bs_walk_entry *at) {
    struct search *search = ctx;
    int depth = at->relative[0] != '\0' ? 1 : 0;
    for (const char *c = at->relative; *c != '\0'; c++)
        depth += *c == '/';
    search->found = --search->left < 0 || depth > MAX_DEPTH || is_writable(at->st->st_mode);
    return !search->found;
}

static bool count_as_writable(void *ctx, const struct bs_walk_entry *at) {
    (void)at;
    ((struct search *)ctx)->found = true;
    return false;
}

static bool may_be_written(const char *path) {
    struct search search = {.left = MAX_FILES};
    struct bs_error err = BS_ERROR_INIT;
    const struct bs_walk walk = {.root = path,
                                 .ctx = &search,
                                 .enter = enter,
                                 .unreadable = count_as_writable,
                                 .cancel = -1};
    bool complete = bs_walk_tree(&walk, &err) == BS_OK && search.left < MAX_FILES;
    return !complete || search.found;
}

void bs_proc_sealing_exceptions(const char *proc, struct bs_buf *names) {
    char path[PATH_MAX];
    DIR *entries = opendir(proc);
    const struct dirent *entry = NULL;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        const char *name = entry->d_name;
        /* The numbered entries are processes, and there may be many of them. They come after all
         * other entries, so the search ends at the first one. */
        if (isdigit((unsigned char)name[0]))
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
