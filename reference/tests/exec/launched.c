/* Tests the records that a launcher writes, and how they are read. */
#include "exec/launched.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/sys.h"
#include "support/harness.h"

/* True to shorten the wait for the start, which is ten seconds. */
static bool is_impatient;

uint64_t __real_bs_after_ms(uint64_t now, uint64_t ms);
uint64_t __wrap_bs_after_ms(uint64_t now, uint64_t ms);

uint64_t __wrap_bs_after_ms(uint64_t now, uint64_t ms) {
    return __real_bs_after_ms(now, is_impatient && ms == BS_LAUNCH_START_MS ? 20 : ms);
}

struct ends {
    int ours;
    int theirs;
};

static int connect_ends(void **state) {
    static struct ends ends;
    int pair[2];
    is_impatient = false;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
        return -1;
    ends = (struct ends){pair[0], pair[1]};
    *state = &ends;
    return 0;
}

static int close_ends(void **state) {
    struct ends *ends = *state;
    bs_close(&ends->ours);
    bs_close(&ends->theirs);
    return 0;
}

static struct bs_launch_failure record(enum bs_launch_step step, int os_error, const char *words) {
    struct bs_launch_failure failure = {.os_error = os_error, .step = (int)step};
    (void)snprintf(failure.words, sizeof failure.words, "%s", words);
    return failure;
}

static void write_record(const struct ends *ends, const void *bytes, size_t len) {
    assert_int_equal(write(ends->theirs, bytes, len), len);
}

static int await(const struct ends *ends, struct bs_error *err) {
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    request.program = "prog";
    *err = (struct bs_error)BS_ERROR_INIT;
    return bs_launched_await(&request, ends->ours, err);
}

static void a_started_program_is_not_a_failure(void **state) {
    const struct ends *ends = *state;
    struct bs_error err;
    const struct bs_launch_failure started = record(BS_LAUNCH_STARTED, 0, "");
    write_record(ends, &started, sizeof started);
    assert_int_equal(await(ends, &err), BS_OK);
}

static void a_launcher_that_ended_without_a_record_is_not_a_failure(void **state) {
    struct ends *ends = *state;
    struct bs_error err;
    bs_close(&ends->theirs);
    assert_int_equal(await(ends, &err), BS_OK);
}

static void an_incomplete_record_is_ignored(void **state) {
    const struct ends *ends = *state;
    struct bs_error err;
    const struct bs_launch_failure failure = record(BS_LAUNCH_SANDBOX, EPERM, "a mount");
    write_record(ends, &failure, sizeof failure - 1);
    assert_int_equal(await(ends, &err), BS_OK);
}

static void each_step_has_its_message(void **state) {
    const struct ends *ends = *state;
    static const struct {
        enum bs_launch_step step;
        int os_error;
        const char *words;
        const char *expected;
    } rows[] = {
        {BS_LAUNCH_PROGRAM, ENOENT, "", "failed to spawn `prog`: No such file or directory"},
        {BS_LAUNCH_PROGRAM, 0, "it is not a program",
         "failed to spawn `prog`: it is not a program"},
        {BS_LAUNCH_DIRECTORY, EACCES, "/d",
         "failed to spawn `prog`: working directory `/d`: Permission denied"},
        {BS_LAUNCH_STDIO, EINVAL, "its stdin",
         "failed to spawn `prog`: standard input or output: its stdin: Invalid argument"},
        {BS_LAUNCH_SANDBOX, 0, "its plan is not one",
         "failed to spawn `prog`: sandbox: its plan is not one"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct bs_error err;
        const struct bs_launch_failure failure =
            record(rows[i].step, rows[i].os_error, rows[i].words);
        write_record(ends, &failure, sizeof failure);
        assert_int_equal(await(ends, &err), BS_E_EXECUTION);
        assert_string_equal(err.message, rows[i].expected);
        assert_int_equal(err.os_error, rows[i].os_error);
    }
}

/* The launcher is another program, so the text in its record may lack the NUL at the end. */
static void unterminated_words_are_cut(void **state) {
    const struct ends *ends = *state;
    struct bs_launch_failure failure = {.step = BS_LAUNCH_SANDBOX};
    struct bs_launch_failure read;
    memset(failure.words, 'x', sizeof failure.words);
    write_record(ends, &failure, sizeof failure);
    memset(&read, 'y', sizeof read);
    assert_true(bs_launched_read(ends->ours, &read));
    assert_int_equal(strlen(read.words), sizeof read.words - 1);
}

static void records_come_one_at_a_time(void **state) {
    const struct ends *ends = *state;
    const struct bs_launch_failure first = record(BS_LAUNCH_STARTED, 0, "first");
    const struct bs_launch_failure second = record(BS_LAUNCH_SANDBOX, EIO, "second");
    struct bs_launch_failure read;
    /* there is no record yet, and the call must not wait */
    assert_false(bs_launched_read(ends->ours, &read));
    write_record(ends, &first, sizeof first);
    write_record(ends, &second, sizeof second);
    assert_true(bs_launched_read(ends->ours, &read));
    assert_string_equal(read.words, "first");
    assert_true(bs_launched_read(ends->ours, &read));
    assert_string_equal(read.words, "second");
    assert_int_equal(read.os_error, EIO);
    assert_false(bs_launched_read(ends->ours, &read));
}

static void a_launcher_that_hangs_is_an_error(void **state) {
    const struct ends *ends = *state;
    struct bs_error err;
    is_impatient = true;
    assert_int_equal(await(ends, &err), BS_E_EXECUTION);
    assert_int_equal(err.os_error, ETIMEDOUT);
    assert_string_equal(err.message,
                        "failed to spawn `prog`: the sandbox did not start it within 10000 ms");
}

#define TALKING(test) cmocka_unit_test_setup_teardown(test, connect_ends, close_ends)

int main(void) {
    const struct CMUnitTest tests[] = {
        TALKING(a_started_program_is_not_a_failure),
        TALKING(a_launcher_that_ended_without_a_record_is_not_a_failure),
        TALKING(an_incomplete_record_is_ignored),
        TALKING(each_step_has_its_message),
        TALKING(unterminated_words_are_cut),
        TALKING(records_come_one_at_a_time),
        TALKING(a_launcher_that_hangs_is_an_error),
    };
    return cmocka_run_group_tests_name("exec/launched", tests, NULL, NULL);
}
