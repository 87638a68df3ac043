/* The program's streams on their way to it. A launcher that still holds them at the program's first
 * instruction keeps whoever has the other ends from seeing that the program closed its own, until
 * the launcher runs again. So nobody holds them: they wait in a socket that the child reads. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/launch/launch.h"
#include "base/sys.h"

enum { STREAMS = 3 };

/* A message of one byte, with room for their descriptors. */
struct parcel {
    char byte;
    struct iovec piece;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(STREAMS * sizeof(int))];
    struct msghdr message;
};

static void wrap(struct parcel *parcel) {
    memset(parcel, 0, sizeof *parcel);
    parcel->piece = (struct iovec){&parcel->byte, 1};
    parcel->message.msg_iov = &parcel->piece;
    parcel->message.msg_iovlen = 1;
    parcel->message.msg_control = parcel->control;
    parcel->message.msg_controllen = sizeof parcel->control;
}

static bool send_from(int socket, int first) {
    struct parcel parcel;
    wrap(&parcel);
    struct cmsghdr *header = CMSG_FIRSTHDR(&parcel.message);
    const int fds[STREAMS] = {first, first + 1, first + 2};
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fds);
    memcpy(CMSG_DATA(header), fds, sizeof fds);
    return BS_RETRY(sendmsg(socket, &parcel.message, 0)) == 1;
}

void let_go_of_handover(struct handover *streams) {
    bs_close(&streams->to);
    bs_close(&streams->from);
}

/* Whether somebody writes to it who may be told that nobody reads any more. */
static bool has_writers(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

bool hand_over(int first, struct handover *streams) {
    int ends[2];
    if (!has_writers(first) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    /* A socket that is closed while something is on its way makes the kernel look for rings of
     * sockets: both stay open until nothing is. */
    bool good = above_places(ends) && send_from(ends[1], first);
    *streams = (struct handover){.from = ends[0], .to = ends[1]};
    if (!good)
        let_go_of_handover(streams);
    return good;
}

static bool receive(int socket, int *fds) {
    struct parcel parcel;
    wrap(&parcel);
    if (BS_RETRY(recvmsg(socket, &parcel.message, MSG_CMSG_CLOEXEC)) != 1)
        return false;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&parcel.message);
    if (header == NULL || header->cmsg_len != CMSG_LEN(STREAMS * sizeof *fds)) {
        errno = EMFILE;
        return false;
    }
    memcpy(fds, CMSG_DATA(header), STREAMS * sizeof *fds);
    return true;
}

bool take_over(const struct handover *streams, int first) {
    int fds[STREAMS] = {first, first + 1, first + 2};
    if (streams->from >= 0 && !receive(streams->from, fds))
        return false;
    bool good = true;
    for (int fd = 0; fd < STREAMS; fd++)
        good = good && (fds[fd] == fd || dup2(fds[fd], fd) == fd);
    return good;
}
