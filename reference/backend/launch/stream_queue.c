/* Passes the program's streams to the child through a socket. While the streams are in the socket,
 * no process holds them. If the launcher held copies, a process at the other end of a stream would
 * see the program close it only after the launcher has run again and closed its own copy. */
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

/* A message of one byte with room for the descriptors. */
struct message {
    char byte;
    struct iovec part;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(STREAMS * sizeof(int))];
    struct msghdr header;
};

static void prepare_message(struct message *message) {
    memset(message, 0, sizeof *message);
    message->part = (struct iovec){&message->byte, 1};
    message->header.msg_iov = &message->part;
    message->header.msg_iovlen = 1;
    message->header.msg_control = message->control;
    message->header.msg_controllen = sizeof message->control;
}

static bool send_streams(int socket, int first) {
    struct message message;
    prepare_message(&message);
    struct cmsghdr *control = CMSG_FIRSTHDR(&message.header);
    const int fds[STREAMS] = {first, first + 1, first + 2};
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof fds);
    memcpy(CMSG_DATA(control), fds, sizeof fds);
    return BS_RETRY(sendmsg(socket, &message.header, 0)) == 1;
}

void stream_queue_close(struct stream_queue *queue) {
    bs_close(&queue->to);
    bs_close(&queue->from);
}

/* True if `fd` is a pipe or a socket. Only for these can a writer notice that the last reader has
 * closed the other end. */
static bool is_pipe_or_socket(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

bool stream_queue_send(int first, struct stream_queue *queue) {
    int ends[2];
    if (!is_pipe_or_socket(first) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    /* Both sockets stay open until the child has received the descriptors. Closing a socket that
     * holds descriptors would start the kernel's search for cycles of sockets, which is slow. */
    bool good = move_above_fixed(ends) && send_streams(ends[1], first);
    *queue = (struct stream_queue){.from = ends[0], .to = ends[1]};
    if (!good)
        stream_queue_close(queue);
    return good;
}

static bool receive_streams(int socket, int *fds) {
    struct message message;
    prepare_message(&message);
    if (BS_RETRY(recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC)) != 1)
        return false;
    const struct cmsghdr *control = CMSG_FIRSTHDR(&message.header);
    if (control == NULL || control->cmsg_len != CMSG_LEN(STREAMS * sizeof *fds)) {
        errno = EMFILE;
        return false;
    }
    memcpy(fds, CMSG_DATA(control), STREAMS * sizeof *fds);
    return true;
}

bool stream_queue_receive(const struct stream_queue *queue, int first) {
    int fds[STREAMS] = {first, first + 1, first + 2};
    if (queue->from >= 0 && !receive_streams(queue->from, fds))
        return false;
    bool good = true;
    for (int fd = 0; fd < STREAMS; fd++)
        good = good && (fds[fd] == fd || dup2(fds[fd], fd) == fd);
    return good;
}
