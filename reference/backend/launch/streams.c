/* Pipes, and the relay of standard input: the program reads a file or a shared pipe through a pipe
 * that only the program reads. */
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
    bool good = move_above_fixed(ends);
    *read_end = ends[0];
    *write_end = ends[1];
    return good;
}

/* A file or a pipe can be reopened through /proc, for writing too. Bytes that the program wrote
 * into a shared pipe would be read by its other readers, such as a shell that reads its script
 * there. A directory leads out of the sandbox. Sockets and terminals pass unchanged. */
bool check_stdio(struct launcher *launcher, bool own_stdin, struct bs_launch_failure *failure) {
    for (int fd = 0; fd <= 2; fd++) {
        struct stat st;
        if (fstat(fd, &st) != 0) {
            int null = (int)BS_RETRY(open("/dev/null", O_RDWR));
            if (null != fd)
                return set_failure(failure, BS_LAUNCH_STDIO, errno, "/dev/null");
            continue;
        }
        int flags = fcntl(fd, F_GETFL);
        if (S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode) || (flags & O_PATH) != 0)
            return set_failure(failure, BS_LAUNCH_STDIO, 0,
                               "a directory or a disk: give a file, a pipe or a terminal");
        bool shared =
            fd == 0 && !own_stdin && S_ISFIFO(st.st_mode) && (flags & O_ACCMODE) != O_WRONLY;
        if (!S_ISREG(st.st_mode) && !shared)
            continue;
        if (fd != 0 || (flags & O_ACCMODE) == O_WRONLY)
            return set_failure(failure, BS_LAUNCH_STDIO, 0,
                               "output to a regular file: give a pipe and copy it there");
        int program_end = -1;
        launcher->pump_pipes = shared;
        launcher->pump_in = fcntl(0, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        if (launcher->pump_in < 0 || !make_pipe(&program_end, &launcher->pump_out) ||
            dup2(program_end, 0) != 0 || !bs_set_nonblocking(launcher->pump_out) ||
            ((flags & O_NONBLOCK) != 0 && !bs_set_nonblocking(0)))
            return set_failure(failure, BS_LAUNCH_STDIO, errno, "a pipe");
        bs_close(&program_end);
    }
    return true;
}

/* The program must not take a read error for the end of its input. It is killed, and the pipe stays
 * open until it has ended. */
static void fail_relay(struct launcher *launcher, int os_error, const char *words) {
    bs_close(&launcher->pump_in);
    launcher->has_failed = true;
    (void)set_failure(&launcher->failure, BS_LAUNCH_STDIO, os_error, words);
    (void)kill(launcher->child, SIGKILL);
}

struct pollfd pump_reads(const struct launcher *launcher) {
    bool waits = launcher->pump_pipes && !launcher->pump_full;
    return (struct pollfd){waits ? launcher->pump_in : -1, POLLIN, 0};
}

struct pollfd pump_writes(const struct launcher *launcher) {
    bool waits = !launcher->pump_pipes || launcher->pump_full;
    /* After a read error the write end stays open without being written to. */
    return (struct pollfd){launcher->pump_in >= 0 ? launcher->pump_out : -1, waits ? POLLOUT : 0,
                           0};
}

static void stop_pumping(struct launcher *launcher) {
    bs_close(&launcher->pump_in);
    bs_close(&launcher->pump_out);
}

/* splice copies no byte through user space and leaves the flags of the caller's pipe alone. EAGAIN
 * means that another reader was faster or that pump_out is full; the next polls wait for one end
 * and then for the other. */
static void splice_pipe(struct launcher *launcher) {
    ssize_t n = (ssize_t)BS_RETRY(splice(launcher->pump_in, NULL, launcher->pump_out, NULL,
                                         sizeof launcher->pump, SPLICE_F_NONBLOCK));
    launcher->pump_full = n < 0 && errno == EAGAIN;
    if (n == 0 || (n < 0 && errno == EPIPE))
        stop_pumping(launcher);
    else if (n < 0 && errno != EAGAIN)
        fail_relay(launcher, errno, "the pipe cannot be read");
}

static void copy_file(struct launcher *launcher) {
    if (launcher->pumped == launcher->filled) {
        ssize_t n =
            (ssize_t)BS_RETRY(read(launcher->pump_in, launcher->pump, sizeof launcher->pump));
        launcher->pumped = 0;
        launcher->filled = n > 0 ? (size_t)n : 0;
        if (n < 0) {
            fail_relay(launcher, errno, "the file cannot be read");
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
    if ((writes & (POLLERR | POLLNVAL)) != 0) /* the program closed its standard input */
        stop_pumping(launcher);
    else if (!launcher->pump_pipes)
        copy_file(launcher);
    else if (reads != 0)
        splice_pipe(launcher);
    else
        launcher->pump_full = false;
}
