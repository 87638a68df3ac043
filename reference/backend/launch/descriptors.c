#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/launch/launch.h"
#include "base/sys.h"

/* Where the kernel, or a filter of whoever started us, does not know the call. */
static bool close_one_by_one(int first, bool on_exec) {
    DIR *list = opendir("/proc/self/fd");
    const struct dirent *entry = NULL;
    bool good = list != NULL;
    while (good && (entry = readdir(list)) != NULL) {
        int fd = (int)strtol(entry->d_name, NULL, 10);
        if (entry->d_name[0] == '.' || fd < first || fd == dirfd(list))
            continue;
        good = on_exec ? fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 : close(fd) == 0;
    }
    if (list != NULL)
        (void)closedir(list);
    return good;
}

bool close_from(int first, bool on_exec) {
    unsigned flags = on_exec ? CLOSE_RANGE_CLOEXEC : 0;
    return syscall(SYS_close_range, first, ~0U, flags) == 0 || close_one_by_one(first, on_exec);
}

bool let_go_of_stdio(bool err) {
    int null = (int)BS_RETRY(open("/dev/null", O_RDWR | O_CLOEXEC));
    bool good =
        null >= 0 && dup2(null, 0) == 0 && dup2(null, 1) == 1 && (!err || dup2(null, 2) == 2);
    if (null > 2)
        (void)close(null);
    return good;
}
