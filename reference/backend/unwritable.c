#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/internal.h"
#include "base/buf.h"
#include "base/sys.h"

/* What lies deeper, or among more, is not looked at and counts as what can be written to. */
enum { DEPTH = 3, MOST = 64 };

static bool may_be_written(int folder, const char *name, int depth, int *left);

static bool holds_one(int fd, int depth, int *left) {
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    if (entries == NULL) {
        bs_close(&fd);
        return true;
    }
    bool found = false;
    const struct dirent *entry = NULL;
    while (!found && (errno = 0, entry = readdir(entries)) != NULL) {
        bool own = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        found = !own && may_be_written(fd, entry->d_name, depth - 1, left);
    }
    found = found || errno != 0;
    (void)closedir(entries);
    return found;
}

/* What everybody may write to is nothing that root alone could. Links lead to what is looked at by
 * its own name, or to a process's. */
static bool may_be_written(int folder, const char *name, int depth, int *left) {
    struct stat st;
    if (--*left < 0 || depth < 0 || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return true;
    if (!S_ISDIR(st.st_mode))
        return !S_ISLNK(st.st_mode) && (st.st_mode & 0222) != 0 && (st.st_mode & 0002) == 0;
    int fd = (int)BS_RETRY(openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    return holds_one(fd, depth, left);
}

void bs_unwritable(const char *proc, struct bs_buf *names) {
    DIR *entries = opendir(proc);
    const struct dirent *entry = NULL;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        const char *name = entry->d_name;
        int left = MOST;
        if (isdigit((unsigned char)name[0])) /* processes come last, and there may be many */
            break;
        if (name[0] == '.' || strchr(name, ':') != NULL ||
            may_be_written(dirfd(entries), name, DEPTH, &left))
            continue;
        bs_buf_str(names, name);
        bs_buf_char(names, ':');
    }
    if (entries != NULL)
        (void)closedir(entries);
}
