#define _GNU_SOURCE
#include "base/sys.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/holdings.h"

static void a_sum_beyond_the_clock_is_never(void **state) {
    (void)state;
    assert_true(bs_after_ms(0, 0) == 0);
    assert_true(bs_after_ms(5, 2) == 2000005);
    assert_true(bs_after_ms(5, UINT64_MAX) == BS_NEVER);
    assert_true(bs_after_ms(UINT64_MAX - 1, 1) == BS_NEVER);
    assert_true(bs_after_ms(5, UINT64_MAX / BS_NS_PER_MS) < BS_NEVER);
    assert_true(bs_after_ms(0, UINT64_MAX / BS_NS_PER_MS + 1) == BS_NEVER);
}

static void a_wait_is_rounded_up_so_that_no_deadline_is_early(void **state) {
    (void)state;
    assert_int_equal(bs_poll_timeout(7, BS_NEVER), -1);
    assert_int_equal(bs_poll_timeout(7, 7), 0);
    assert_int_equal(bs_poll_timeout(7, 6), 0);
    assert_int_equal(bs_poll_timeout(7, 8), 1);
    assert_int_equal(bs_poll_timeout(0, BS_NS_PER_MS), 1);
    assert_int_equal(bs_poll_timeout(0, BS_NS_PER_MS + 1), 2);
    assert_int_equal(bs_poll_timeout(0, BS_NEVER - 1), INT_MAX);
}

static void closing_keeps_errno_and_forgets_the_number(void **state) {
    (void)state;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    errno = ENOTDIR;
    bs_close(&fd);
    assert_int_equal(fd, -1);
    bs_close(&fd);
    int never_open = 1 << 20;
    bs_close(&never_open);
    assert_int_equal(errno, ENOTDIR);
}

static void own_descriptors_are_above_stdio(void **state) {
    (void)state;
    struct holdings before = holdings_now();
    int high = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(high > 2);
    assert_int_equal(bs_above_stdio(high), high);
    bs_close(&high);
    int kept = fcntl(0, F_DUPFD_CLOEXEC, 3);
    assert_true(kept > 2);
    (void)close(0);
    int moved = bs_above_stdio(open("/dev/null", O_RDONLY | O_CLOEXEC));
    assert_true(moved > 2);
    assert_int_equal(fcntl(moved, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(0, F_GETFD), -1);
    assert_int_equal(dup2(kept, 0), 0);
    bs_close(&moved);
    bs_close(&kept);
    assert_int_equal(bs_above_stdio(-1), -1);
    assert_nothing_left(before);
}

static void time_does_not_go_back(void **state) {
    (void)state;
    uint64_t last = bs_now_ns();
    for (int i = 0; i < 10000; i++) {
        uint64_t now = bs_now_ns();
        assert_true(now >= last);
        last = now;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_beyond_the_clock_is_never),
        cmocka_unit_test(a_wait_is_rounded_up_so_that_no_deadline_is_early),
        cmocka_unit_test(closing_keeps_errno_and_forgets_the_number),
        cmocka_unit_test(own_descriptors_are_above_stdio),
        cmocka_unit_test(time_does_not_go_back),
    };
    return cmocka_run_group_tests_name("base/sys", tests, NULL, NULL);
}
