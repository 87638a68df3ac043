/* Pipes, and standard input from a file or a pipe, which the program gets as a pipe of its own. */
#define _GNU_SOURCE
#include "backend/launch/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys.h"

bool make_pipe(int *read_end, int *write_end) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    bool good = above_places(ends);
    *read_end = ends[0];
    *write_end = ends[1];
    return good;
}

/* A file and a pipe can be opened anew through /proc, for writing too: what is written to a pipe
 * then is read by whoever else reads it, such as a shell that has its script from there. A
 * directory leads out of the sandbox. Sockets and terminals are what they are. */
bool check_stdio(struct launcher *launcher, bool own, struct bs_launch_failure *failure) {
    for (int fd = 0; fd <= 2; fd++) {
        struct stat st;
        if (fstat(fd, &st) != 0) {
            int null = (int)BS_RETRY(open("/dev/null", O_RDWR));
            if (null != fd)
                return failed(failure, BS_LAUNCH_STDIO, errno, "/dev/null");
            continue;
        }
        int flags = fcntl(fd, F_GETFL);
        if (S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode) || (flags & O_PATH) != 0)
            return failed(failure, BS_LAUNCH_STDIO, 0,
                          "a directory or a disk: give a file, a pipe or a terminal");
        bool shared = fd == 0 && !own && S_ISFIFO(st.st_mode) && (flags & O_ACCMODE) != O_WRONLY;
        if (!S_ISREG(st.st_mode) && !shared)
            continue;
        if (fd != 0 || (flags & O_ACCMODE) == O_WRONLY)
            return failed(failure, BS_LAUNCH_STDIO, 0,
                          "output to a regular file: give a pipe and copy it there");
        int theirs = -1;
        launcher->pump_pipes = shared;
        launcher->pump_in = fcntl(0, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        if (launcher->pump_in < 0 || !make_pipe(&theirs, &launcher->pump_out) ||
            dup2(theirs, 0) != 0 || !bs_set_nonblocking(launcher->pump_out) ||
            ((flags & O_NONBLOCK) != 0 && !bs_set_nonblocking(0)))
            return failed(failure, BS_LAUNCH_STDIO, errno, "a pipe");
        bs_close(&theirs);
    }
    return true;
}

/* An end that comes too early would say that this was all. So whoever reads is ended without one:
 * our side of the pipe stays open until everybody is gone. */
static void give_up(struct launcher *launcher, int os_error, const char *words) {
    bs_close(&launcher->pump_in);
    launcher->has_failed = true;
    (void)failed(&launcher->failure, BS_LAUNCH_STDIO, os_error, words);
    (void)kill(launcher->child, SIGKILL);
}

struct pollfd pump_reads(const struct launcher *launcher) {
    bool waits = launcher->pump_pipes && !launcher->pump_full;
    return (struct pollfd){waits ? launcher->pump_in : -1, POLLIN, 0};
}

struct pollfd pump_writes(const struct launcher *launcher) {
    bool waits = !launcher->pump_pipes || launcher->pump_full;
    /* Where the source was given up, this end is kept and nothing goes there. */
    return (struct pollfd){launcher->pump_in >= 0 ? launcher->pump_out : -1, waits ? POLLOUT : 0,
                           0};
}

static void stop_pumping(struct launcher *launcher) {
    bs_close(&launcher->pump_in);
    bs_close(&launcher->pump_out);
}

/* No byte goes through our memory, and no flag of the caller's pipe is changed. Nothing moves where
 * another reader was faster, or where there is no room: a look at one end, then at the other. */
static void move(struct launcher *launcher) {
    ssize_t n = (ssize_t)BS_RETRY(splice(launcher->pump_in, NULL, launcher->pump_out, NULL,
                                         sizeof launcher->pump, SPLICE_F_NONBLOCK));
    launcher->pump_full = n < 0 && errno == EAGAIN;
    if (n == 0 || (n < 0 && errno == EPIPE))
        stop_pumping(launcher);
    else if (n < 0 && errno != EAGAIN)
        give_up(launcher, errno, "the pipe cannot be read");
}

static void pass_on(struct launcher *launcher) {
    if (launcher->pumped == launcher->filled) {
        ssize_t n =
            (ssize_t)BS_RETRY(read(launcher->pump_in, launcher->pump, sizeof launcher->pump));
        launcher->pumped = 0;
        launcher->filled = n > 0 ? (size_t)n : 0;
        if (n < 0) {
            give_up(launcher, errno, "the file cannot be read");
            return;
        }
    }
    ssize_t n = -1;
    if (launcher->filled > 0)
        n = (ssize_t)BS_RETRY(write(launcher->pump_out, launcher->pump + launcher->pumped,
                                    launcher->filled - launcher->pumped));
    if (n > 0)
        launcher->pumped += (size_t)n;
    if (launcher->filled == 0 || (n < 0 && errno != EAGAIN))
        stop_pumping(launcher);
}

void pump(struct launcher *launcher, short reads, short writes) {
    if ((writes & (POLLERR | POLLNVAL)) != 0) /* nobody reads any more */
        stop_pumping(launcher);
    else if (!launcher->pump_pipes)
        pass_on(launcher);
    else if (reads != 0)
        move(launcher);
    else
        launcher->pump_full = false;
}
