/* Removing a directory with all that is in it, links not followed. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/internal.h"
#include "base/sys.h"

static int remove_below(int parent, const char *name, uint64_t until, unsigned depth);

static int remove_entries(int dir, uint64_t until, unsigned depth) {
    enum { DEEPEST = 512 };
    int copy = fcntl(dir, F_DUPFD_CLOEXEC, 3);
    DIR *list = copy >= 0 && depth < DEEPEST ? fdopendir(copy) : NULL;
    if (list == NULL) {
        int os_error = depth < DEEPEST ? errno : ENAMETOOLONG;
        bs_close(&copy);
        return os_error;
    }
    int os_error = 0;
    const struct dirent *entry = NULL;
    while (os_error != ETIME && (entry = readdir(list)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int failed = remove_below(dirfd(list), entry->d_name, until, depth + 1);
        if (failed != 0)
            os_error = failed;
    }
    (void)closedir(list);
    return os_error;
}

static int remove_below(int parent, const char *name, uint64_t until, unsigned depth) {
    if (until != BS_NEVER && bs_now_ns() >= until)
        return ETIME;
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return errno;
    /* A program may have taken its own rights away from what it made in the scratch; one that
     * outlived its session may put a link in its place meanwhile. */
    (void)fchmodat(parent, name, 0700, AT_SYMLINK_NOFOLLOW);
    int dir = (int)BS_RETRY(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (dir < 0)
        return errno;
    int os_error = remove_entries(dir, until, depth);
    bs_close(&dir);
    if (unlinkat(parent, name, AT_REMOVEDIR) == 0)
        return 0;
    return os_error != 0 ? os_error : errno;
}

int bs_tree_remove(int parent, const char *name, uint64_t until) {
    return remove_below(parent, name, until, 0);
}
