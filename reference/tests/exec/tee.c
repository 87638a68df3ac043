#define _GNU_SOURCE
#include "exec/tee.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys.h"
#include "exec/sigpipe.h"
#include "support/folder.h"
#include "support/harness.h"

/* A full named pipe that replaces stderr. */
struct terminal {
    struct folder *folder;
    int reader;
    int kept; /* a copy of the real stderr */
    struct bs_sigpipe guard;
};

static void fill(int fd) {
    static const char byte[1];
    while (write(fd, byte, 1) == 1) {
    }
}

static int setup(void **state) {
    static struct terminal terminal;
    if (folder_setup((void **)&terminal.folder) != 0)
        return -1;
    assert_int_equal(mkfifoat(terminal.folder->fd, "fifo", 0600), 0);
    terminal.reader = openat(terminal.folder->fd, "fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    terminal.kept = fcntl(2, F_DUPFD_CLOEXEC, 3);
    int writer = openat(terminal.folder->fd, "fifo", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    fill(writer);
    assert_int_equal(fcntl(writer, F_SETFL, 0), 0);
    assert_int_equal(dup2(writer, 2), 2);
    (void)close(writer);
    bs_sigpipe_hold(&terminal.guard); /* As a run does before it writes. */
    *state = &terminal;
    return 0;
}

static int teardown(void **state) {
    struct terminal *terminal = *state;
    bs_sigpipe_release(&terminal->guard);
    (void)dup2(terminal->kept, 2);
    (void)close(terminal->kept);
    bs_close(&terminal->reader);
    return folder_teardown((void **)&terminal->folder);
}

static void the_tee_waits_for_a_full_pipe_with_a_reader(void **state) {
    const struct terminal *terminal = *state;
    static char seen[256 * 1024];
    struct bs_tee tee;
    assert_int_equal(bs_tee_init(&tee, NULL, 0), 0);
    bs_tee_write(&tee, BS_STDOUT, "text", 4);
    assert_true(bs_tee_fd(&tee) >= 0);
    assert_true(read(terminal->reader, seen, sizeof seen) > 0);
    bs_tee_flush(&tee);
    assert_int_equal(bs_tee_fd(&tee), -1);
    assert_int_equal(read(terminal->reader, seen, sizeof seen), 4);
    assert_memory_equal(seen, "text", 4);
    bs_tee_finish(&tee);
}

/* If the descriptor is blocking and cannot be reopened, the copy must not wait for it either. */
static void the_tee_gives_up_a_full_pipe_without_a_reader(void **state) {
    struct terminal *terminal = *state;
    struct bs_tee tee;
    bs_close(&terminal->reader);
    assert_int_equal(bs_tee_init(&tee, NULL, 0), 0);
    bs_tee_write(&tee, BS_STDOUT, "text", 4);
    assert_int_equal(bs_tee_fd(&tee), -1);
    bs_tee_write(&tee, BS_STDERR, "text", 4);
    assert_int_equal(bs_tee_fd(&tee), -1);
    bs_tee_finish(&tee);
}

static void the_tee_gives_up_if_the_reader_closes_later(void **state) {
    struct terminal *terminal = *state;
    struct bs_tee tee;
    assert_int_equal(bs_tee_init(&tee, NULL, 0), 0);
    bs_tee_write(&tee, BS_STDOUT, "text", 4);
    assert_true(bs_tee_fd(&tee) >= 0);
    bs_close(&terminal->reader);
    bs_tee_flush(&tee);
    assert_int_equal(bs_tee_fd(&tee), -1);
    bs_tee_finish(&tee);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_tee_waits_for_a_full_pipe_with_a_reader, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_tee_gives_up_a_full_pipe_without_a_reader, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_tee_gives_up_if_the_reader_closes_later, setup,
                                        teardown),
    };
    return cmocka_run_group_tests_name("exec/tee", tests, NULL, NULL);
}
