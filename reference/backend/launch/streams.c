/* Makes pipes, and passes on standard input: the program reads a file, or a pipe that has other
 * readers, through a pipe that only the program reads. */
#define _GNU_SOURCE
#include "backend/launch/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
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

/* Check the streams. A program can reopen a file or a pipe through /proc, for writing too. If it
 * wrote to a shared pipe, the pipe's other readers would read these bytes, for example a shell that
 * reads its script from the pipe. A directory is refused, because it leads out of the sandbox.
 * Sockets and terminals stay as they are. */
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
        launcher->stdin_source = fcntl(0, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        if (launcher->stdin_source < 0 || !make_pipe(&program_end, &launcher->stdin_pipe) ||
            dup2(program_end, 0) != 0 || !bs_set_nonblocking(launcher->stdin_pipe) ||
            ((flags & O_NONBLOCK) != 0 && !bs_set_nonblocking(0)))
            return set_failure(failure, BS_LAUNCH_STDIO, errno, "a pipe");
        /* Without these descriptors give_back_stdin does nothing: the offset stays where the
         * launcher has stopped reading. */
        if (S_ISREG(st.st_mode)) {
            launcher->stdin_file = fcntl(launcher->stdin_source, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
            launcher->stdin_unread = fcntl(program_end, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        }
        bs_close(&program_end);
        bs_relay_connect(&launcher->relay, launcher->stdin_source, launcher->stdin_pipe);
    }
    return true;
}

void give_back_stdin(struct launcher *launcher) {
    int in_pipe = 0;
    if (launcher->stdin_file < 0 || launcher->stdin_unread < 0 ||
        ioctl(launcher->stdin_unread, FIONREAD, &in_pipe) != 0)
        return;
    off_t unread = (off_t)in_pipe + (off_t)(launcher->relay.end - launcher->relay.start);
    if (unread > 0)
        (void)lseek(launcher->stdin_file, -unread, SEEK_CUR);
    bs_close(&launcher->stdin_file);
    bs_close(&launcher->stdin_unread);
}

void relay_stdin(struct launcher *launcher, const struct pollfd set[2]) {
    struct bs_relay *relay = &launcher->relay;
    bs_relay_turn(relay, set);
    if (!bs_relay_is_done(relay))
        return;
    /* A read error must not look like the end of the input to the program. So the program is
     * killed, and the pipe stays open until the program has ended. */
    bool is_unreadable = relay->to >= 0 && relay->os_error != 0;
    bs_relay_connect(relay, -1, -1);
    bs_close(&launcher->stdin_source);
    /* A program that has ended needs no input, and its number may belong to another process. */
    if (!is_unreadable || launcher->ended) {
        bs_close(&launcher->stdin_pipe);
        return;
    }
    launcher->has_failed = true;
    (void)set_failure(&launcher->failure, BS_LAUNCH_STDIO, relay->os_error,
                      "the input cannot be read");
    (void)kill(launcher->child, SIGKILL);
}
