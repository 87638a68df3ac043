/* Tests the queue through which a child receives its streams. While the streams are in the queue,
 * no process has them open. Streams that cannot be sent stay open. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/launch/launch.h"
#include "support/harness.h"

enum { FIRST = 30 };

ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
int __real_socketpair(int domain, int type, int protocol, int *ends);
int __wrap_socketpair(int domain, int type, int protocol, int *ends);

static int send_error;
static int pair_error;

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags) {
    errno = send_error;
    return send_error != 0 ? -1 : __real_sendmsg(fd, message, flags);
}

int __wrap_socketpair(int domain, int type, int protocol, int *ends) {
    errno = pair_error;
    return pair_error != 0 ? -1 : __real_socketpair(domain, type, protocol, ends);
}

/* This program's ends of three pipes. The other ends have the numbers FIRST to FIRST + 2. */
struct streams {
    int in;
    int out;
    int err;
};

static void place(int fd, int at) {
    assert_int_equal(dup2(fd, at), at);
    (void)close(fd);
}

static int setup(void **state) {
    static struct streams streams;
    int in[2];
    int out[2];
    int err[2];
    send_error = pair_error = 0;
    assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
    streams = (struct streams){in[1], out[0], err[0]};
    place(in[0], FIRST);
    place(out[1], FIRST + 1);
    place(err[1], FIRST + 2);
    *state = &streams;
    return 0;
}

static void close_ours(void) {
    for (int fd = FIRST; fd <= FIRST + 2; fd++)
        (void)close(fd);
}

static int teardown(void **state) {
    const struct streams *streams = *state;
    (void)close(streams->in);
    (void)close(streams->out);
    (void)close(streams->err);
    close_ours();
    return 0;
}

/* Start a child that copies a byte from 0 to 1 and writes another byte to 2. */
static void start(const struct stream_queue *queue) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char byte = 0;
        bool good = stream_queue_receive(queue, FIRST) && read(0, &byte, 1) == 1 &&
                    write(1, &byte, 1) == 1 && write(2, "e", 1) == 1;
        _exit(good ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static char read_byte(int fd) {
    char byte = 0;
    assert_int_equal(read(fd, &byte, 1), 1);
    return byte;
}

static void assert_child_has_streams(const struct streams *streams, struct stream_queue *queue) {
    assert_int_equal(write(streams->in, "x", 1), 1);
    start(queue);
    stream_queue_close(queue);
    close_ours();
    assert_int_equal(read_byte(streams->out), 'x');
    assert_int_equal(read_byte(streams->err), 'e');
    char none = 0;
    /* end-of-file: no process holds the other end */
    assert_int_equal(read(streams->out, &none, 1), 0);
}

static void queued_streams_reach_the_child(void **state) {
    struct stream_queue queue = {-1, -1};
    assert_true(stream_queue_send(FIRST, &queue));
    assert_true(queue.from >= FIRST_FREE_FD && queue.to >= FIRST_FREE_FD);
    assert_int_equal(fcntl(queue.from, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(queue.to, F_GETFD), FD_CLOEXEC);
    close_ours();
    assert_child_has_streams(*state, &queue);
}

/* While the streams are in the queue, their pipes still have both ends, although no process holds
 * the program's ends. */
static void queued_streams_stay_open_until_the_queue_closes(void **state) {
    const struct streams *streams = *state;
    struct stream_queue queue = {-1, -1};
    assert_true(stream_queue_send(FIRST, &queue));
    close_ours();
    struct pollfd set[] = {{streams->in, POLLOUT, 0}, {streams->out, POLLIN, 0}};
    assert_int_equal(poll(set, 2, 0), 1);
    assert_int_equal(set[0].revents, POLLOUT);
    stream_queue_close(&queue);
    assert_int_equal(queue.from, -1);
    assert_int_equal(queue.to, -1);
    assert_int_equal(poll(set, 2, 0), 2);
    assert_true((set[0].revents & POLLERR) != 0);
    assert_true((set[1].revents & POLLHUP) != 0);
}

static void a_file_is_not_queued(void **state) {
    struct stream_queue queue = {-1, -1};
    (void)state;
    place(open("/dev/null", O_RDONLY | O_CLOEXEC), FIRST);
    assert_false(stream_queue_send(FIRST, &queue));
    assert_int_equal(queue.from, -1);
}

static void streams_stay_open_if_the_queue_fails(void **state) {
    struct stream_queue queue = {-1, -1};
    for (int i = 0; i < 2; i++) {
        int *error = i == 0 ? &send_error : &pair_error;
        *error = ETOOMANYREFS;
        assert_false(stream_queue_send(FIRST, &queue));
        assert_int_equal(queue.from, -1);
        assert_int_equal(queue.to, -1);
        *error = 0;
    }
    assert_child_has_streams(*state, &queue);
}

#define with_streams(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        with_streams(queued_streams_reach_the_child),
        with_streams(queued_streams_stay_open_until_the_queue_closes),
        with_streams(a_file_is_not_queued),
        with_streams(streams_stay_open_if_the_queue_fails),
    };
    return cmocka_run_group_tests_name("backend/stream_queue", tests, NULL, NULL);
}
