#define _GNU_SOURCE
#include "exec/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"
#include "support/harness.h"
#include "support/holdings.h"

static int setup(void **state) {
    (void)state;
    return signal(SIGPIPE, SIG_IGN) == SIG_ERR ? -1 : 0;
}

static void open_pipe(int ends[2]) {
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(bs_set_nonblocking(ends[1]));
}

static void an_empty_payload_closes_stdin_at_once(void **state) {
    (void)state;
    int ends[2];
    char byte = 0;
    struct bs_feed feed;
    open_pipe(ends);
    bs_feed_init(&feed, ends[1], NULL, 0);
    bs_feed_write(&feed);
    assert_int_equal(feed.fd, -1);
    assert_false(bs_feed_failed(&feed));
    assert_int_equal(read(ends[0], &byte, 1), 0);
    bs_feed_abandon(&feed);
    assert_false(bs_feed_failed(&feed));
    bs_close(&ends[0]);
}

static void a_payload_larger_than_the_pipe_takes_several_turns(void **state) {
    (void)state;
    enum { SIZE = 300 * 1024 + 7 };
    int ends[2];
    char *payload = malloc(SIZE);
    char *got = malloc(SIZE + 1);
    assert_non_null(payload);
    assert_non_null(got);
    for (size_t i = 0; i < SIZE; i++)
        payload[i] = (char)(i * 7 % 253);
    struct bs_feed feed;
    open_pipe(ends);
    bs_feed_init(&feed, ends[1], payload, SIZE);
    size_t n = 0;
    unsigned turns = 0;
    while (feed.fd >= 0) {
        size_t before = feed.left;
        bs_feed_write(&feed);
        assert_true(feed.left < before);
        ssize_t part = read(ends[0], got + n, SIZE + 1 - n);
        assert_true(part > 0);
        n += (size_t)part;
        turns++;
    }
    ssize_t part = 0;
    while ((part = read(ends[0], got + n, SIZE + 1 - n)) > 0)
        n += (size_t)part;
    assert_int_equal(part, 0);
    assert_int_equal(n, SIZE);
    assert_memory_equal(got, payload, SIZE);
    assert_true(turns > 1);
    assert_false(bs_feed_failed(&feed));
    bs_close(&ends[0]);
    free(payload);
    free(got);
}

static void a_full_pipe_is_not_a_failure(void **state) {
    (void)state;
    int ends[2];
    static char payload[256 * 1024];
    struct bs_feed feed;
    open_pipe(ends);
    bs_feed_init(&feed, ends[1], payload, sizeof payload);
    bs_feed_write(&feed);
    size_t left = feed.left;
    bs_feed_write(&feed);
    assert_int_equal(feed.left, left);
    assert_true(feed.fd >= 0);
    assert_false(bs_feed_failed(&feed));
    bs_feed_abandon(&feed);
    bs_close(&ends[0]);
}

static void a_closed_reader_gives_epipe_and_closes_the_feed(void **state) {
    (void)state;
    int ends[2];
    struct bs_feed feed;
    open_pipe(ends);
    bs_close(&ends[0]);
    bs_feed_init(&feed, ends[1], "abc", 3);
    bs_feed_write(&feed);
    assert_int_equal(feed.fd, -1);
    assert_int_equal(feed.os_error, EPIPE);
    assert_true(bs_feed_failed(&feed));
    bs_feed_write(&feed);
    bs_feed_abandon(&feed);
    assert_int_equal(feed.os_error, EPIPE);
}

static void an_abandoned_payload_with_bytes_left_has_failed(void **state) {
    (void)state;
    int ends[2];
    struct bs_feed feed;
    open_pipe(ends);
    bs_feed_init(&feed, ends[1], "abc", 3);
    bs_feed_abandon(&feed);
    assert_int_equal(feed.fd, -1);
    assert_int_equal(feed.os_error, EPIPE);
    bs_close(&ends[0]);
}

static void the_first_reason_is_kept(void **state) {
    (void)state;
    struct bs_feed feed;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    bs_feed_init(&feed, fd, "abc", 3);
    bs_feed_write(&feed);
    assert_int_equal(feed.os_error, ENOSPC);
    bs_feed_abandon(&feed);
    assert_int_equal(feed.os_error, ENOSPC);
}

static void no_descriptor_is_left(void **state) {
    (void)state;
    struct holdings before = holdings_now();
    for (int round = 0; round < 20; round++) {
        an_empty_payload_closes_stdin_at_once(state);
        a_full_pipe_is_not_a_failure(state);
        a_closed_reader_gives_epipe_and_closes_the_feed(state);
        an_abandoned_payload_with_bytes_left_has_failed(state);
        the_first_reason_is_kept(state);
    }
    assert_nothing_left(before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_payload_closes_stdin_at_once),
        cmocka_unit_test(a_payload_larger_than_the_pipe_takes_several_turns),
        cmocka_unit_test(a_full_pipe_is_not_a_failure),
        cmocka_unit_test(a_closed_reader_gives_epipe_and_closes_the_feed),
        cmocka_unit_test(an_abandoned_payload_with_bytes_left_has_failed),
        cmocka_unit_test(the_first_reason_is_kept),
        cmocka_unit_test(no_descriptor_is_left),
    };
    return cmocka_run_group_tests_name("exec/feed", tests, setup, NULL);
}
