/* Tests process handles on a host that has no free descriptor for reading /proc. */
#define _GNU_SOURCE
#include <boxspec/process.h>

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/group.h"
#include "support/harness.h"
#include "support/holdings.h"
#include "support/process.h"

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
int __real_kill(pid_t pid, int signo);
int __wrap_kill(pid_t pid, int signo);
int __real_poll(struct pollfd *set, nfds_t n, int timeout_ms);
int __wrap_poll(struct pollfd *set, nfds_t n, int timeout_ms);

static bool no_descriptors;
static unsigned blocking_polls;
/* a process that dies slowly: SIGKILL takes effect only at the next query of its state */
static pid_t slow;

DIR *__wrap_opendir(const char *path) {
    if (!no_descriptors)
        return __real_opendir(path);
    errno = EMFILE;
    return NULL;
}

int __wrap_poll(struct pollfd *set, nfds_t n, int timeout_ms) {
    blocking_polls += timeout_ms != 0;
    return __real_poll(set, n, timeout_ms);
}

int __wrap_kill(pid_t pid, int signo) {
    if (slow == 0 || pid != -slow)
        return __real_kill(pid, signo);
    if (signo == SIGKILL)
        return 0;
    if (signo != 0)
        return __real_kill(pid, signo);
    slow = 0;
    return __real_kill(pid, SIGKILL);
}

/* The member holds stdout. It was killed with its group, so it must not count as a detached
 * writer. */
static void a_killed_member_that_could_not_be_listed_is_not_a_detached_writer(void **state) {
    (void)state;
    struct bs_process_end end;
    bool detached = true;
    char ready = 0;
    struct bs_process *process = opened("trap '' TERM; sleep 60 & printf r; exit 5");
    pid_t pgid = bs_process_pid(process);
    assert_int_equal(read(bs_process_stream(process, 1), &ready, 1), 1);
    no_descriptors = true;
    slow = pgid;
    int code = bs_process_close(process, 0, &end, &detached, NULL);
    bool was_asked = slow == 0;
    no_descriptors = false;
    slow = 0;
    if (!was_asked)
        (void)__real_kill(-pgid, SIGKILL);
    bs_process_drop(process);
    assert_int_equal(code, BS_OK);
    assert_true(was_asked);
    assert_false(detached);
    assert_int_equal(end.state, BS_PROCESS_EXITED);
    assert_int_equal(end.number, 5);
}

/* A member is still alive for a moment after SIGKILL, so the group has not ended yet. */
static void a_wait_of_0_ms_never_blocks(void **state) {
    (void)state;
    static const uint64_t at_once = 0;
    struct bs_process_end end;
    siginfo_t info;
    struct bs_process *process = opened("trap '' TERM; sleep 60 & exit 5");
    pid_t pgid = bs_process_pid(process);
    slow = pgid;
    assert_int_equal(waitid(P_PID, (id_t)pgid, &info, WEXITED | WNOWAIT), 0);
    blocking_polls = 0;
    int code = bs_process_wait(process, &at_once, &end, NULL);
    unsigned blocked = blocking_polls;
    slow = 0;
    assert_int_equal(code, BS_OK);
    assert_int_equal(end.state, BS_PROCESS_RUNS);
    assert_int_equal(blocked, 0);
    assert_int_equal(bs_process_wait(process, NULL, &end, NULL), BS_OK);
    assert_int_equal(end.state, BS_PROCESS_EXITED);
    assert_int_equal(end.number, 5);
    bs_process_drop(process);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(a_wait_of_0_ms_never_blocks),
        leaves_nothing(a_killed_member_that_could_not_be_listed_is_not_a_detached_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
