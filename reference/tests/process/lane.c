#define _GNU_SOURCE
#include "process/lane.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "process/watcher.h"
#include "support/harness.h"
#include "support/holdings.h"

enum { SIZE = 3 * 1024 * 1024 + 5 };

enum kind { PIPE, SOCKET, OWN_END, KINDS };

static char sent[SIZE];
static char got[SIZE];

/* ends[0] is read, ends[1] written. OWN_END: the written end is non-blocking. */
static void make_ends(enum kind kind, int ends[2]) {
    if (kind == SOCKET)
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    else
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    if (kind == OWN_END)
        assert_true(bs_set_nonblocking(ends[1]));
}

static void *write_it(void *arg) {
    int fd = *(int *)arg;
    for (size_t done = 0; done < SIZE;) {
        ssize_t n = BS_RETRY(write(fd, sent + done, SIZE - done));
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    bs_close(&fd);
    return NULL;
}

static void *read_it(void *arg) {
    int fd = *(int *)arg;
    size_t done = 0;
    ssize_t n = 1;
    while (n > 0 && done < SIZE) {
        n = BS_RETRY(read(fd, got + done, SIZE - done));
        done += n > 0 ? (size_t)n : 0;
    }
    return (void *)(uintptr_t)done;
}

static void relay(struct bs_lane *lane) {
    while (!bs_lane_is_done(lane)) {
        struct pollfd set[2];
        bs_lane_poll(lane, set);
        assert_true(BS_RETRY(poll(set, 2, 20000)) > 0);
        bs_lane_turn(lane, set);
    }
}

static void every_byte_passes(void **state) {
    (void)state;
    struct bs_lane *lane = calloc(1, sizeof *lane);
    assert_non_null(lane);
    for (size_t i = 0; i < SIZE; i++)
        sent[i] = (char)(i * 7 + i / 251);
    for (int from = PIPE; from <= SOCKET; from++) {
        for (int to = PIPE; to < KINDS; to++) {
            int in[2];
            int out[2];
            pthread_t writer;
            pthread_t reader;
            void *came = NULL;
            make_ends((enum kind)from, in);
            make_ends((enum kind)to, out);
            memset(got, 0, SIZE);
            memset(lane, 0, sizeof *lane);
            bs_lane_connect(lane, in[0], out[1]);
            assert_int_equal(lane->splices, from == PIPE && to != SOCKET);
            assert_int_equal(pthread_create(&writer, NULL, write_it, &in[1]), 0);
            assert_int_equal(pthread_create(&reader, NULL, read_it, &out[0]), 0);
            relay(lane);
            bs_close(&in[0]);
            bs_close(&out[1]);
            assert_int_equal(pthread_join(writer, NULL), 0);
            assert_int_equal(pthread_join(reader, &came), 0);
            assert_int_equal((uintptr_t)came, SIZE);
            assert_memory_equal(sent, got, SIZE);
            bs_close(&out[0]);
        }
    }
    free(lane);
}

/* A full pipe accepts no data, and must not block the relay. */
static void a_turn_never_blocks(void **state) {
    (void)state;
    struct bs_lane *lane = calloc(1, sizeof *lane);
    assert_non_null(lane);
    for (int to = PIPE; to < KINDS; to++) {
        int in[2];
        int out[2];
        struct pollfd set[2];
        make_ends(PIPE, in);
        make_ends((enum kind)to, out);
        memset(lane, 0, sizeof *lane);
        bs_lane_connect(lane, in[0], out[1]);
        assert_true(bs_set_nonblocking(in[1]));
        /* Until both pipes and the relay are full. */
        for (bool moved = true; moved;) {
            ssize_t n = write(in[1], sent, 4096);
            bs_lane_poll(lane, set);
            moved = poll(set, 2, 0) > 0 || n > 0;
            bs_lane_turn(lane, set);
        }
        assert_false(bs_lane_is_done(lane));
        bs_close(&out[0]);
        bs_lane_poll(lane, set);
        assert_int_equal(poll(set, 2, 10000), 1);
        bs_lane_turn(lane, set);
        assert_true(bs_lane_is_done(lane));
        bs_close(&in[0]);
        bs_close(&in[1]);
        bs_close(&out[1]);
    }
    free(lane);
}

static void a_pipe_at_both_ends_is_copied(void **state) {
    (void)state;
    struct bs_lane *lane = calloc(1, sizeof *lane);
    int ends[2];
    struct pollfd set[2];
    char text[8];
    assert_non_null(lane);
    make_ends(PIPE, ends);
    bs_lane_connect(lane, ends[0], ends[1]);
    assert_int_equal(write(ends[1], "abc", 3), 3);
    for (int i = 0; i < 3; i++) {
        bs_lane_poll(lane, set);
        assert_true(poll(set, 2, 0) > 0);
        bs_lane_turn(lane, set);
    }
    assert_int_equal(read(ends[0], text, sizeof text), 3);
    assert_memory_equal(text, "abc", 3);
    bs_close(&ends[0]);
    bs_close(&ends[1]);
    free(lane);
}

static int lost_of(const char *from, int to) {
    static struct bs_lane lane;
    int opened = open(from, O_RDONLY | O_CLOEXEC);
    assert_true(opened >= 0);
    memset(&lane, 0, sizeof lane);
    bs_lane_connect(&lane, opened, to);
    relay(&lane);
    assert_int_equal(close(opened), 0);
    return lane.os_error;
}

static void lost_bytes_are_reported(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(lost_of("/proc/self/status", ends[1]), 0);
    /* A directory can be opened but not read. */
    assert_int_equal(lost_of("/", ends[1]), EISDIR);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_int_equal(lost_of("/proc/self/status", full), ENOSPC);
    assert_int_equal(close(full), 0);
    /* If the reader has gone, no data counts as lost. */
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(lost_of("/proc/self/status", ends[1]), 0);
    assert_int_equal(close(ends[1]), 0);
}

static void releasing_a_watcher_that_is_gone_raises_no_signal(void **state) {
    (void)state;
    struct bs_watcher watcher = BS_WATCHER_INIT;
    siginfo_t info;
    assert_int_equal(bs_watcher_start(&watcher), 0);
    assert_int_equal(kill(watcher.pid, SIGKILL), 0);
    assert_int_equal(waitid(P_PID, (id_t)watcher.pid, &info, WEXITED | WNOWAIT), 0);
    (void)signal(SIGPIPE, SIG_DFL);
    bs_watcher_release(&watcher);
    (void)signal(SIGPIPE, SIG_IGN);
}

int main(void) {
    (void)signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        leaves_nothing(every_byte_passes),
        leaves_nothing(a_turn_never_blocks),
        leaves_nothing(a_pipe_at_both_ends_is_copied),
        leaves_nothing(lost_bytes_are_reported),
        leaves_nothing(releasing_a_watcher_that_is_gone_raises_no_signal),
    };
    return cmocka_run_group_tests_name("process/lane", tests, NULL, NULL);
}
