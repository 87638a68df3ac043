#define _GNU_SOURCE
#include "base/relay.h"

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

/* Make the ends of a relay, which reads from ends[0] and writes to ends[1]. With OWN_END, ends[1]
 * is non-blocking. */
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

static void pass_everything(struct bs_relay *relay) {
    while (!bs_relay_is_done(relay)) {
        struct pollfd set[2];
        bs_relay_poll(relay, set);
        assert_true(BS_RETRY(poll(set, 2, 20000)) > 0);
        bs_relay_turn(relay, set);
    }
}

static void every_byte_passes(void **state) {
    (void)state;
    struct bs_relay *relay = calloc(1, sizeof *relay);
    assert_non_null(relay);
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
            memset(relay, 0, sizeof *relay);
            bs_relay_connect(relay, in[0], out[1]);
            assert_int_equal(relay->splices, from == PIPE && to != SOCKET);
            assert_int_equal(pthread_create(&writer, NULL, write_it, &in[1]), 0);
            assert_int_equal(pthread_create(&reader, NULL, read_it, &out[0]), 0);
            pass_everything(relay);
            bs_close(&in[0]);
            bs_close(&out[1]);
            assert_int_equal(pthread_join(writer, NULL), 0);
            assert_int_equal(pthread_join(reader, &came), 0);
            assert_int_equal((uintptr_t)came, SIZE);
            assert_memory_equal(sent, got, SIZE);
            bs_close(&out[0]);
        }
    }
    free(relay);
}

/* A full pipe takes no more bytes. This must not block the relay. */
static void a_turn_never_blocks(void **state) {
    (void)state;
    struct bs_relay *relay = calloc(1, sizeof *relay);
    assert_non_null(relay);
    for (int to = PIPE; to < KINDS; to++) {
        int in[2];
        int out[2];
        struct pollfd set[2];
        make_ends(PIPE, in);
        make_ends((enum kind)to, out);
        memset(relay, 0, sizeof *relay);
        bs_relay_connect(relay, in[0], out[1]);
        assert_true(bs_set_nonblocking(in[1]));
        /* continue until both pipes and the relay are full */
        for (bool moved = true; moved;) {
            ssize_t n = write(in[1], sent, 4096);
            bs_relay_poll(relay, set);
            moved = poll(set, 2, 0) > 0 || n > 0;
            bs_relay_turn(relay, set);
        }
        assert_false(bs_relay_is_done(relay));
        bs_close(&out[0]);
        bs_relay_poll(relay, set);
        assert_int_equal(poll(set, 2, 10000), 1);
        bs_relay_turn(relay, set);
        assert_true(bs_relay_is_done(relay));
        bs_close(&in[0]);
        bs_close(&in[1]);
        bs_close(&out[1]);
    }
    free(relay);
}

/* Another reader may empty the source between poll and splice. The relay must then wait for the
 * source. If it waited for the other pipe, which is writable, every poll would return at once. */
static void a_source_that_another_reader_empties_is_waited_for(void **state) {
    (void)state;
    struct bs_relay *relay = calloc(1, sizeof *relay);
    int in[2];
    int out[2];
    struct pollfd set[2];
    char byte = 0;
    assert_non_null(relay);
    make_ends(PIPE, in);
    make_ends(PIPE, out);
    bs_relay_connect(relay, in[0], out[1]);
    assert_int_equal(write(in[1], "x", 1), 1);
    bs_relay_poll(relay, set);
    assert_int_equal(poll(set, 2, 10000), 1);
    assert_int_equal(read(in[0], &byte, 1), 1);
    bs_relay_turn(relay, set);
    bs_relay_poll(relay, set);
    assert_int_equal(poll(set, 2, 10000), 1);
    bs_relay_turn(relay, set);
    bs_relay_poll(relay, set);
    assert_int_equal(poll(set, 2, 0), 0);
    assert_int_equal(write(in[1], "y", 1), 1);
    assert_int_equal(poll(set, 2, 10000), 1);
    bs_relay_turn(relay, set);
    assert_int_equal(read(out[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    for (int i = 0; i < 2; i++) {
        bs_close(&in[i]);
        bs_close(&out[i]);
    }
    free(relay);
}

static void a_pipe_at_both_ends_is_copied(void **state) {
    (void)state;
    struct bs_relay *relay = calloc(1, sizeof *relay);
    int ends[2];
    struct pollfd set[2];
    char text[8];
    assert_non_null(relay);
    make_ends(PIPE, ends);
    bs_relay_connect(relay, ends[0], ends[1]);
    assert_int_equal(write(ends[1], "abc", 3), 3);
    for (int i = 0; i < 3; i++) {
        bs_relay_poll(relay, set);
        assert_true(poll(set, 2, 0) > 0);
        bs_relay_turn(relay, set);
    }
    assert_int_equal(read(ends[0], text, sizeof text), 3);
    assert_memory_equal(text, "abc", 3);
    bs_close(&ends[0]);
    bs_close(&ends[1]);
    free(relay);
}

static int lost_of(const char *from, int to) {
    static struct bs_relay relay;
    int opened = open(from, O_RDONLY | O_CLOEXEC);
    assert_true(opened >= 0);
    memset(&relay, 0, sizeof relay);
    bs_relay_connect(&relay, opened, to);
    pass_everything(&relay);
    assert_int_equal(close(opened), 0);
    return relay.os_error;
}

static void lost_bytes_are_reported(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(lost_of("/proc/self/status", ends[1]), 0);
    /* reading fails, because a directory can be opened but not read */
    assert_int_equal(lost_of("/", ends[1]), EISDIR);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_int_equal(lost_of("/proc/self/status", full), ENOSPC);
    assert_int_equal(close(full), 0);
    /* if the reader has gone, no byte counts as lost */
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
        leaves_nothing(a_source_that_another_reader_empties_is_waited_for),
        leaves_nothing(a_pipe_at_both_ends_is_copied),
        leaves_nothing(lost_bytes_are_reported),
        leaves_nothing(releasing_a_watcher_that_is_gone_raises_no_signal),
    };
    return cmocka_run_group_tests_name("process/relay", tests, NULL, NULL);
}
