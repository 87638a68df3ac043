#define _GNU_SOURCE
#include "base/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sys.h"

/* A directory entry as getdents64 writes it. readdir is not used, because it allocates memory,
 * which is not allowed in the forked child of a program with threads. */
struct entry {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

/* Return the descriptor number that an entry of /proc/self/fd names, or -1 if it names none. */
static int number_of(const char *name) {
    int number = 0;
    for (; *name >= '0' && *name <= '9'; name++)
        number = number * 10 + (*name - '0');
    return *name == '\0' ? number : -1;
}

static int release(int fd, bool on_exec) {
    if (on_exec)
        return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? 0 : errno;
    /* Linux frees the number even if close reports an error. */
    (void)close(fd);
    return 0;
}

/* Close or mark the descriptors one by one. Used if the kernel lacks close_range or a seccomp
 * filter blocks it. */
static int close_one_by_one(int first, bool on_exec) {
    _Alignas(struct entry) char text[1024];
    int list = (int)BS_RETRY(open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (list < 0)
        return errno;
    int os_error = 0;
    long n = 0;
    while (os_error == 0 && (n = syscall(SYS_getdents64, list, text, sizeof text)) != 0) {
        if (n < 0)
            os_error = errno;
        for (long at = 0; at < n && os_error == 0;) {
            const struct entry *entry = (const void *)(text + at);
            int fd = number_of(entry->name);
            if (fd >= first && fd != list)
                os_error = release(fd, on_exec);
            at += entry->length;
        }
    }
    bs_close(&list);
    return os_error;
}

int bs_close_from(int first, bool on_exec) {
    unsigned flags = on_exec ? CLOSE_RANGE_CLOEXEC : 0;
    return syscall(SYS_close_range, (unsigned)first, ~0U, flags) == 0
               ? 0
               : close_one_by_one(first, on_exec);
}
