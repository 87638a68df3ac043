#define _GNU_SOURCE
#include "module/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"

char *bs_module_folder_make(void) {
    const char *below = getenv("TMPDIR");
    char *path = NULL;
    if (below == NULL || below[0] != '/')
        below = "/tmp";
    if (asprintf(&path, "%s/boxspec-module-XXXXXX", below) < 0)
        path = NULL;
    if (path == NULL)
        errno = ENOMEM;
    if (path == NULL || mkdtemp(path) != NULL)
        return path;
    int why = errno;
    free(path);
    errno = why;
    return NULL;
}

static int open_folder(int dir, const char *name) {
    return (int)BS_RETRY(openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/* So many levels are entered, each at the price of a descriptor and a frame of the stack. */
enum { LEVELS = 32 };

static void empty(int top, int dir, unsigned level, unsigned *number);

/* What lies deeper is moved up to `top`, for another round. `number` makes names that nobody has.
 */
static void move_up(int top, int dir, const char *name, unsigned *number) {
    char up[32];
    do
        (void)snprintf(up, sizeof up, ".%u", (*number)++);
    while (renameat(dir, name, top, up) != 0 &&
           (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR));
}

static void remove_name(int top, int dir, const char *name, unsigned level, unsigned *number) {
    if (unlinkat(dir, name, 0) == 0 || unlinkat(dir, name, AT_REMOVEDIR) == 0)
        return;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return;
    /* Its own mode may forbid to look into it, and to take it out of where it is. */
    (void)fchmodat(dir, name, 0700, AT_SYMLINK_NOFOLLOW);
    int folder = level < LEVELS ? open_folder(dir, name) : -1;
    if (folder >= 0) {
        empty(top, folder, level + 1, number);
        bs_close(&folder);
        (void)unlinkat(dir, name, AT_REMOVEDIR);
    } else if (dir != top) {
        move_up(top, dir, name, number);
    }
}

/* Takes every name out of the folder, which may be `top` itself. */
static void empty(int top, int dir, unsigned level, unsigned *number) {
    int listed = open_folder(dir, ".");
    DIR *entries = listed >= 0 ? fdopendir(listed) : NULL;
    if (entries == NULL) {
        bs_close(&listed);
        return;
    }
    const struct dirent *entry = NULL;
    while ((entry = readdir(entries)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_name(top, dir, entry->d_name, level, number);
    }
    (void)closedir(entries);
}

bool bs_module_folder_remove(const char *path, unsigned within_ms) {
    enum { DEEPEST_TIMES = 10 };
    /* The time is for somebody who keeps writing: it runs from when everything has been reached
     * once. One who keeps digging is given up too. */
    uint64_t until = bs_after_ms(bs_now_ns(), (uint64_t)within_ms * DEEPEST_TIMES);
    bool reached = false;
    unsigned number = 0;
    for (;;) {
        if (rmdir(path) == 0 || errno == ENOENT)
            return true;
        /* The module has put something else in its place: a link, say, to what is not ours. */
        if (errno == ENOTDIR && unlink(path) == 0)
            return true;
        unsigned before = number;
        (void)fchmodat(AT_FDCWD, path, 0700, AT_SYMLINK_NOFOLLOW);
        int top = open_folder(AT_FDCWD, path);
        if (top >= 0)
            empty(top, top, 1, &number);
        bs_close(&top);
        if (rmdir(path) == 0)
            return true;
        uint64_t now = bs_now_ns();
        if (!reached && number == before) {
            reached = true;
            until = bs_after_ms(now, within_ms);
        }
        if (now >= until)
            return false;
        struct timespec moment = {0, 2 * (long)BS_NS_PER_MS};
        if (number == before)
            (void)nanosleep(&moment, NULL);
    }
}
