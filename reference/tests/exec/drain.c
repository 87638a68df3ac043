#define _GNU_SOURCE
#include "exec/drain.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"
#include "base/utf8.h"
#include "support/harness.h"
#include "support/holdings.h"

/* One character of each UTF-8 length. */
#define TEXT "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z"
enum { TEXT_LEN = sizeof TEXT - 1 };

static const struct bs_exec_request keeps = BS_EXEC_REQUEST_INIT;

/* Return a drain of a pipe that contains the text and then ends. */
static struct bs_drain drain_of(const void *data, size_t len, uint64_t most) {
    int ends[2];
    struct bs_drain drain;
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(write(ends[1], data, len), len);
    bs_close(&ends[1]);
    bs_drain_init(&drain, ends[0], BS_STDOUT, most);
    return drain;
}

static void read_to_end(struct bs_drain *drain, const struct bs_exec_request *request) {
    struct bs_receivers receivers = {.request = request, .tee = NULL};
    while (drain->fd >= 0)
        assert_int_equal(bs_drain_read(drain, &receivers), 0);
}

static void every_cap_cuts_at_a_whole_character(void **state) {
    (void)state;
    for (size_t cap = 0; cap <= TEXT_LEN + 2; cap++) {
        struct bs_drain drain = drain_of(TEXT, TEXT_LEN, cap);
        read_to_end(&drain, &keeps);
        bs_drain_finish(&drain);
        size_t kept = cap < TEXT_LEN ? bs_utf8_valid_prefix(TEXT, cap) : TEXT_LEN;
        assert_int_equal(drain.over, cap < TEXT_LEN);
        assert_int_equal(drain.kept.len, kept);
        if (kept > 0)
            assert_memory_equal(drain.kept.data, TEXT, kept);
        assert_true(drain.taken <= cap);
        bs_drain_clear(&drain);
    }
}

static void the_cap_counts_bytes_of_single_writes_too(void **state) {
    (void)state;
    struct bs_receivers receivers = {.request = &keeps, .tee = NULL};
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    struct bs_drain drain;
    bs_drain_init(&drain, ends[0], BS_STDERR, 4);
    for (size_t i = 0; i < TEXT_LEN; i++) {
        assert_int_equal(write(ends[1], &TEXT[i], 1), 1);
        assert_int_equal(bs_drain_read(&drain, &receivers), 0);
        assert_int_equal(drain.over, i >= 4);
        assert_int_equal(drain.taken, i < 4 ? i + 1 : 4);
    }
    bs_drain_finish(&drain);
    assert_int_equal(drain.kept.len, 3);
    bs_close(&ends[1]);
    bs_drain_clear(&drain);
}

static void an_incomplete_character_written_by_the_child_is_kept(void **state) {
    (void)state;
    struct bs_drain drain = drain_of("ok\xE2\x82", 4, UINT64_MAX);
    read_to_end(&drain, &keeps);
    bs_drain_finish(&drain);
    assert_int_equal(drain.kept.len, 4);
    bs_drain_clear(&drain);
    drain = drain_of("ok\xE2\x82", 4, 4);
    read_to_end(&drain, &keeps);
    bs_drain_finish(&drain);
    assert_false(drain.over);
    assert_int_equal(drain.kept.len, 4);
    bs_drain_clear(&drain);
}

static void a_cap_of_zero_keeps_no_output(void **state) {
    (void)state;
    struct bs_drain drain = drain_of("x", 1, 0);
    read_to_end(&drain, &keeps);
    bs_drain_finish(&drain);
    assert_true(drain.over);
    assert_int_equal(drain.kept.len, 0);
    bs_drain_clear(&drain);
    drain = drain_of("", 0, 0);
    read_to_end(&drain, &keeps);
    assert_false(drain.over);
    bs_drain_clear(&drain);
}

static void an_empty_pipe_is_not_end_of_file(void **state) {
    (void)state;
    struct bs_receivers receivers = {.request = &keeps, .tee = NULL};
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    struct bs_drain drain;
    bs_drain_init(&drain, ends[0], BS_STDOUT, UINT64_MAX);
    assert_int_equal(bs_drain_read(&drain, &receivers), 0);
    assert_int_equal(bs_drain_rest(&drain, &receivers), 0);
    assert_true(drain.fd >= 0);
    bs_close(&ends[1]);
    assert_int_equal(bs_drain_rest(&drain, &receivers), 0);
    assert_int_equal(drain.fd, -1);
    assert_int_equal(drain.kept.len, 0);
    bs_drain_clear(&drain);
    bs_drain_clear(&drain);
}

struct output {
    struct bs_buf text;
    unsigned calls;
    enum bs_stream stream;
};

static void collect(void *ctx, enum bs_stream stream, const char *data, size_t len) {
    struct output *output = ctx;
    assert_true(len > 0);
    bs_buf_add(&output->text, data, len);
    output->calls++;
    output->stream = stream;
}

static void output_for_a_callback_is_not_kept_and_obeys_the_cap(void **state) {
    (void)state;
    for (uint64_t cap = 0; cap <= TEXT_LEN + 1; cap++) {
        struct output output = {BS_BUF_INIT, 0, BS_STDERR};
        struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
        request.on_output = collect;
        request.on_output_ctx = &output;
        struct bs_drain drain = drain_of(TEXT, TEXT_LEN, cap);
        read_to_end(&drain, &request);
        bs_drain_finish(&drain);
        size_t expected = cap < TEXT_LEN ? (size_t)cap : TEXT_LEN;
        assert_int_equal(output.text.len, expected);
        assert_int_equal(output.calls, expected > 0 ? 1 : 0);
        assert_int_equal(output.stream, expected > 0 ? BS_STDOUT : BS_STDERR);
        assert_int_equal(drain.over, cap < TEXT_LEN);
        assert_int_equal(drain.kept.len, 0);
        assert_null(drain.kept.data);
        bs_drain_clear(&drain);
        bs_buf_clear(&output.text);
    }
}

static void draining_the_rest_stops_after_the_largest_pipe(void **state) {
    (void)state;
    enum { LARGEST_PIPE = 1024 * 1024, LARGEST_READ = 256 * 1024 };
    struct bs_receivers receivers = {.request = &keeps, .tee = NULL};
    struct bs_drain drain;
    bs_drain_init(&drain, open("/dev/zero", O_RDONLY | O_CLOEXEC), BS_STDOUT, UINT64_MAX);
    assert_int_equal(bs_drain_rest(&drain, &receivers), 0);
    assert_true(drain.fd >= 0);
    assert_in_range(drain.kept.len, LARGEST_PIPE, LARGEST_PIPE + LARGEST_READ);
    bs_drain_clear(&drain);
    bs_drain_init(&drain, open("/dev/zero", O_RDONLY | O_CLOEXEC), BS_STDOUT, 100);
    assert_int_equal(bs_drain_rest(&drain, &receivers), 0);
    assert_true(drain.over);
    assert_int_equal(drain.kept.len, 100);
    bs_drain_clear(&drain);
}

static void only_a_pipe_that_was_full_is_enlarged(void **state) {
    (void)state;
    static char half[32 * 1024];
    memset(half, 'x', sizeof half);
    struct bs_receivers receivers = {.request = &keeps, .tee = NULL};
    struct bs_drain drain = drain_of(half, 100, UINT64_MAX);
    assert_int_equal(bs_drain_read(&drain, &receivers), 0);
    assert_false(drain.grown);
    bs_drain_clear(&drain);
    drain = drain_of(half, sizeof half, 64 * 1024);
    assert_int_equal(bs_drain_read(&drain, &receivers), 0);
    assert_true(drain.grown);
    bs_drain_clear(&drain);
}

static void no_descriptor_is_left(void **state) {
    struct holdings before = holdings_now();
    every_cap_cuts_at_a_whole_character(state);
    draining_the_rest_stops_after_the_largest_pipe(state);
    assert_nothing_left(before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cap_cuts_at_a_whole_character),
        cmocka_unit_test(the_cap_counts_bytes_of_single_writes_too),
        cmocka_unit_test(an_incomplete_character_written_by_the_child_is_kept),
        cmocka_unit_test(a_cap_of_zero_keeps_no_output),
        cmocka_unit_test(an_empty_pipe_is_not_end_of_file),
        cmocka_unit_test(output_for_a_callback_is_not_kept_and_obeys_the_cap),
        cmocka_unit_test(draining_the_rest_stops_after_the_largest_pipe),
        cmocka_unit_test(only_a_pipe_that_was_full_is_enlarged),
        cmocka_unit_test(no_descriptor_is_left),
    };
    return cmocka_run_group_tests_name("exec/drain", tests, NULL, NULL);
}
