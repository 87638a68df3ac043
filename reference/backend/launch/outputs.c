#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/launch/launch.h"
#include "base/sys.h"

static int reopen(int fd, int flags) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return (int)BS_RETRY(open(path, flags | O_CLOEXEC));
}

static void note(struct outputs *outputs, enum bs_stream stream, int fd) {
    struct stat st;
    if (fstat(fd, &st) != 0 || !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
        return;
    int pipe = S_ISFIFO(st.st_mode) ? reopen(fd, O_PATH) : -1;
    outputs->list[outputs->n++] = (struct output){stream, st.st_dev, st.st_ino, pipe};
}

void outputs_note(struct outputs *outputs, int out, int err) {
    note(outputs, BS_STDOUT, out);
    note(outputs, BS_STDERR, err);
}

/* True if a process may have the output open for writing. A pipe shows it to a reader; for a socket
 * it is not known. */
static bool may_have_writer(const struct output *output) {
    int fd = output->pipe >= 0 ? reopen(output->pipe, O_RDONLY | O_NONBLOCK) : -1;
    struct pollfd entry = {.fd = fd, .events = 0};
    bool may = fd < 0 || BS_RETRY(poll(&entry, 1, 0)) != 1;
    bs_close(&fd);
    return may;
}

unsigned outputs_with_writer(const struct outputs *outputs) {
    unsigned streams = 0;
    for (size_t i = 0; i < outputs->n; i++) {
        if (may_have_writer(&outputs->list[i]))
            streams |= outputs->list[i].stream;
    }
    return streams;
}

static unsigned outputs_at(const struct outputs *outputs, const struct stat *st) {
    unsigned streams = 0;
    for (size_t i = 0; i < outputs->n; i++) {
        if (outputs->list[i].device == st->st_dev && outputs->list[i].inode == st->st_ino)
            streams |= outputs->list[i].stream;
    }
    return streams;
}

static bool has_ended(int os_error) { return os_error == ENOENT || os_error == ESRCH; }

unsigned outputs_held_by(const struct outputs *outputs, pid_t pid) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
    if (outputs->n == 0)
        return 0;
    DIR *dir = opendir(path);
    if (dir == NULL)
        return has_ended(errno) ? 0 : outputs_with_writer(outputs);
    unsigned streams = 0;
    const struct dirent *entry = NULL;
    while ((entry = readdir(dir)) != NULL) {
        struct stat st;
        if (entry->d_name[0] == '.')
            continue;
        if (fstatat(dirfd(dir), entry->d_name, &st, 0) == 0)
            streams |= outputs_at(outputs, &st);
        else if (!has_ended(errno)) /* the process hides its descriptors since a moment ago */
            streams |= outputs_with_writer(outputs);
    }
    (void)closedir(dir);
    return streams;
}
