/* Removes a directory with all of its contents, without following links or entering mounts. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/session/private_dir.h"
#include "base/sys.h"

/* A round enters at most LEVELS levels, because each level costs a descriptor and a stack frame.
 * Each round makes the tree LEVELS levels less deep. The number of rounds is limited, because a
 * process that is still alive could make the tree deeper forever. */
enum { LEVELS = 32, MOST_ROUNDS = 10000 };

struct removal {
    uint64_t until;
    int top;
    unsigned number; /* for making new names */
};

static int remove_below(struct removal *removal, int parent, const char *name, unsigned level);

static int remove_entries(struct removal *removal, DIR *list, unsigned level) {
    int os_error = 0;
    const struct dirent *entry = NULL;
    while (os_error != ETIME && (entry = readdir(list)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int failed = remove_below(removal, dirfd(list), entry->d_name, level + 1);
        if (failed != 0)
            os_error = failed;
    }
    return os_error;
}

/* Move a directory that is nested too deeply to the top, where the next round removes it. */
static int move_up(struct removal *removal, int parent, const char *name) {
    char up[32];
    int os_error = EEXIST;
    while (os_error == EEXIST || os_error == ENOTEMPTY || os_error == ENOTDIR) {
        (void)snprintf(up, sizeof up, ".%u", removal->number++);
        os_error = renameat(parent, name, removal->top, up) == 0 ? 0 : errno;
    }
    return os_error == ENOENT ? 0 : os_error;
}

static int remove_below(struct removal *removal, int parent, const char *name, unsigned level) {
    if (removal->until != BS_NEVER && bs_now_ns() >= removal->until)
        return ETIME;
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return errno;
    /* EBUSY: something is mounted on the directory, perhaps a directory of the host. */
    if (unlinkat(parent, name, AT_REMOVEDIR) == 0)
        return 0;
    if (errno == EBUSY)
        return EBUSY;
    /* Restore the mode, because a program may have removed its own permissions from a directory in
     * its TMPDIR. Do not follow links, because a process that outlived the session may replace the
     * directory by a link. */
    (void)fchmodat(parent, name, 0700, AT_SYMLINK_NOFOLLOW);
    if (level == LEVELS)
        return move_up(removal, parent, name);
    int dir = (int)BS_RETRY(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    DIR *list = dir >= 0 ? fdopendir(dir) : NULL;
    if (list == NULL) {
        int os_error = errno;
        bs_close(&dir);
        return os_error;
    }
    if (level == 0)
        removal->top = dir;
    int os_error = remove_entries(removal, list, level);
    (void)closedir(list);
    if (unlinkat(parent, name, AT_REMOVEDIR) == 0)
        return 0;
    return os_error != 0 ? os_error : errno;
}

int bs_remove_tree(int parent, const char *name, uint64_t until) {
    struct removal removal = {until, -1, 0};
    int os_error = 0;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        unsigned before = removal.number;
        os_error = remove_below(&removal, parent, name, 0);
        if (os_error == 0 || os_error == ETIME || removal.number == before)
            break;
    }
    return os_error;
}
