/* Tests a program that forks during a run. The forked process must not disturb the state of the
 * library. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boxspec/exec.h>

#include "base/sys.h"
#include "exec/signals.h"
#include "support/harness.h"
#include "support/holdings.h"
#include "support/shell.h"

enum { RECEIVED = 41, WENT_ON = 42, WRONG = 43, BOUND_S = 30 };

/* Runs in a child and returns its exit status. */
typedef int (*child_body)(void);

static pid_t start(pid_t (*make)(void), child_body body) {
    pid_t pid = make();
    if (pid == 0) {
        (void)alarm(BOUND_S);
        _exit(body());
    }
    assert_true(pid > 0);
    return pid;
}

/* Return the exit status, or 128 plus the signal that ended the child. */
static int end_of(pid_t pid) {
    siginfo_t info;
    assert_int_equal(BS_RETRY(waitid(P_PID, (id_t)pid, &info, WEXITED)), 0);
    return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

static void assert_quiet(const struct bs_signal_slot *slot) {
    struct pollfd entry = {.fd = bs_signal_fd(slot), .events = POLLIN};
    assert_int_equal(BS_RETRY(poll(&entry, 1, 0)), 0);
    assert_int_equal(bs_signal_first(slot), 0);
}

static void assert_released(struct bs_signal_slot *slot) {
    unsigned sigints = 99;
    unsigned sigterms = 99;
    bs_signals_release(slot, &sigints, &sigterms);
    assert_int_equal(sigints, 0);
    assert_int_equal(sigterms, 0);
}

static int raise_both(void) {
    (void)raise(SIGINT);
    (void)raise(SIGTERM);
    return WENT_ON;
}

static void exit_on_signal(int signo) {
    (void)signo;
    _exit(RECEIVED);
}

static void dispositions_are_the_previous_ones(pid_t (*make)(void)) {
    static const struct {
        void (*disposition)(int);
        int end;
    } rows[] = {{SIG_DFL, 128 + SIGINT}, {SIG_IGN, WENT_ON}, {exit_on_signal, RECEIVED}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct sigaction action = {.sa_handler = rows[i].disposition};
        struct sigaction before[2];
        (void)sigaction(SIGINT, &action, &before[0]);
        (void)sigaction(SIGTERM, &action, &before[1]);
        struct bs_signal_slot *slot = bs_signals_acquire(NULL);
        int end = end_of(start(make, raise_both));
        assert_quiet(slot);
        assert_released(slot);
        (void)sigaction(SIGINT, &before[0], NULL);
        (void)sigaction(SIGTERM, &before[1], NULL);
        assert_int_equal(end, rows[i].end);
    }
}

static void a_forked_child_receives_its_own_signals(void **state) {
    (void)state;
    dispositions_are_the_previous_ones(fork);
}

static void a_child_forked_without_the_atfork_handlers_does_so_too(void **state) {
    (void)state;
    dispositions_are_the_previous_ones(_Fork);
}

static int look_at_dispositions(void) {
    struct sigaction actions[2];
    (void)sigaction(SIGINT, NULL, &actions[0]);
    (void)sigaction(SIGTERM, NULL, &actions[1]);
    return actions[0].sa_handler == SIG_IGN && actions[1].sa_handler == SIG_DFL ? 0 : WRONG;
}

/* The previous dispositions must hold in the child at once, before any signal. If SIGINT was
 * ignored, it must also be ignored in a program that the child executes. */
static void dispositions_are_restored_in_the_child_before_any_signal(void **state) {
    (void)state;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;
    (void)sigaction(SIGINT, &ignore, &before);
    struct bs_signal_slot *slot = bs_signals_acquire(NULL);
    int end = end_of(start(fork, look_at_dispositions));
    assert_released(slot);
    (void)sigaction(SIGINT, &before, NULL);
    assert_int_equal(end, 0);
}

static int same_set(const sigset_t *a, const sigset_t *b) {
    for (int signo = 1; signo < SIGRTMIN; signo++) {
        if (sigismember(a, signo) != sigismember(b, signo))
            return 0;
    }
    return 1;
}

static sigset_t expected_mask;

static int look_at_mask(void) {
    sigset_t mask;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    return same_set(&mask, &expected_mask) ? 0 : WRONG;
}

static void the_signal_mask_is_unchanged_in_parent_and_child(void **state) {
    (void)state;
    sigset_t before;
    sigset_t after;
    (void)sigemptyset(&expected_mask);
    (void)sigaddset(&expected_mask, SIGUSR2);
    (void)sigaddset(&expected_mask, SIGTERM);
    (void)pthread_sigmask(SIG_SETMASK, &expected_mask, &before);
    struct bs_signal_slot *slot = bs_signals_acquire(NULL);
    int end = end_of(start(fork, look_at_mask));
    assert_released(slot);
    (void)pthread_sigmask(SIG_SETMASK, &before, &after);
    assert_int_equal(end, 0);
    assert_true(same_set(&after, &expected_mask));
}

static int run_a_program(void) {
    struct bs_exec_request request = SHELL("kill -TERM $PPID; exec sleep 60");
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    if (bs_exec_run(&request, &result, NULL) != BS_OK)
        return WRONG;
    int code = result.exit_code;
    bs_exec_result_clear(&result);
    (void)raise(SIGTERM);
    return code;
}

static void a_forked_child_can_make_runs(void **state) {
    (void)state;
    struct bs_signal_slot *slot = bs_signals_acquire(NULL);
    /* The child's run handles the first SIGTERM. The second SIGTERM arrives after that run, so it
     * ends the child. */
    assert_int_equal(end_of(start(fork, run_a_program)), 128 + SIGTERM);
    assert_quiet(slot);
    assert_released(slot);
}

static pid_t forked;

static void fork_once(void *ctx, enum bs_stream stream, const char *data, size_t len) {
    (void)ctx;
    (void)stream;
    (void)data;
    (void)len;
    if (forked == 0)
        forked = start(fork, raise_both);
}

static void the_parents_run_continues(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("echo; exit 3");
    forked = 0;
    request.on_output = fork_once;
    struct bs_exec_result result = run_to_result(&request);
    assert_int_equal(result.exit_code, 3);
    assert_int_equal(result.pending_signals, 0);
    bs_exec_result_clear(&result);
    assert_int_equal(end_of(forked), 128 + SIGINT);
}

static atomic_bool stop;

static void *take_and_give(void *arg) {
    while (!atomic_load(&stop)) {
        unsigned ignored[2];
        struct bs_signal_slot *slot = bs_signals_acquire(NULL);
        if (slot != NULL)
            bs_signals_release(slot, &ignored[0], &ignored[1]);
    }
    return arg;
}

static int take_and_give_once(void) {
    unsigned noted[2];
    struct bs_signal_slot *slot = bs_signals_acquire(NULL);
    if (slot == NULL)
        return WRONG;
    bs_signals_release(slot, &noted[0], &noted[1]);
    struct sigaction action;
    (void)sigaction(SIGTERM, NULL, &action);
    return action.sa_handler == SIG_DFL && noted[0] + noted[1] == 0 ? 0 : WRONG;
}

static void a_fork_at_any_moment_leaves_no_lock_held(void **state) {
    (void)state;
    enum { WORKERS = 3, FORKS = 200 };
    pthread_t workers[WORKERS];
    atomic_store(&stop, false);
    for (size_t i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&workers[i], NULL, take_and_give, NULL), 0);
    int worst = 0;
    for (int i = 0; i < FORKS && worst == 0; i++)
        worst = end_of(start(fork, take_and_give_once));
    atomic_store(&stop, true);
    for (size_t i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_join(workers[i], NULL), 0);
    assert_int_equal(worst, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(a_forked_child_receives_its_own_signals),
        leaves_nothing(a_child_forked_without_the_atfork_handlers_does_so_too),
        leaves_nothing(dispositions_are_restored_in_the_child_before_any_signal),
        leaves_nothing(the_signal_mask_is_unchanged_in_parent_and_child),
        leaves_nothing(a_forked_child_can_make_runs),
        leaves_nothing(the_parents_run_continues),
        leaves_nothing(a_fork_at_any_moment_leaves_no_lock_held),
    };
    return cmocka_run_group_tests_name("exec/forks", tests, NULL, NULL);
}
