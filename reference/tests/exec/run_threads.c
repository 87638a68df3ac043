#define _GNU_SOURCE
#include <boxspec/exec.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "support/harness.h"
#include "support/holdings.h"
#include "support/shell.h"

enum { THREADS = 64 };

struct job {
    pthread_t thread;
    unsigned number;
    bool with_stdin;
    bool good;
};

/* The run of each thread prints the number of the thread in three ways, so that the test notices if
 * runs are mixed up. */
static void *run_one(void *arg) {
    struct job *job = arg;
    char number[16];
    char line[32];
    (void)snprintf(number, sizeof number, "%u", job->number);
    (void)snprintf(line, sizeof line, "out %u\n", job->number);
    const struct bs_env_pair env[] = {{"NUMBER", number}, {"PATH", "/bin:/usr/bin"}};
    struct bs_exec_request request = SHELL("echo out $NUMBER; echo err >&2; exit $NUMBER");
    request.env_mode = BS_ENV_CLEAR_AND_SET;
    request.env = env;
    request.n_env = 2;
    if (job->with_stdin) {
        request.stdin_mode = BS_STDIN_BYTES;
        request.stdin_data = "";
        request.stdin_len = 0;
    }
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    if (bs_exec_run(&request, &result, &err) == BS_OK)
        job->good = result.termination == BS_ENDED_EXIT && result.has_exit_code &&
                    result.exit_code == (int)job->number && result.out.len == strlen(line) &&
                    strcmp(result.out.data, line) == 0 && result.err.len == 4;
    else
        (void)fprintf(stderr, "run %u: %s\n", job->number, err.message);
    bs_exec_result_clear(&result);
    return NULL;
}

static void start_all(struct job *jobs, void *(*body)(void *)) {
    for (unsigned i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){.number = i, .with_stdin = i % 2 == 0};
        assert_int_equal(pthread_create(&jobs[i].thread, NULL, body, &jobs[i]), 0);
    }
}

static void join_all(struct job *jobs) {
    unsigned bad = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(jobs[i].thread, NULL), 0);
        bad += !jobs[i].good;
    }
    assert_int_equal(bad, 0);
}

static void sixty_four_concurrent_runs_do_not_mix(void **state) {
    (void)state;
    static struct job jobs[THREADS];
    start_all(jobs, run_one);
    join_all(jobs);
    struct sigaction now;
    (void)sigaction(SIGTERM, NULL, &now);
    assert_true(now.sa_handler == SIG_DFL);
}

static atomic_uint ready;

/* The last run that becomes ready sends one signal, which must reach all runs. */
static void count_ready(void *ctx, enum bs_stream stream, const char *data, size_t len) {
    (void)stream;
    (void)data;
    (void)len;
    bool *counted = ctx;
    if (*counted)
        return;
    *counted = true;
    if (atomic_fetch_add(&ready, 1) + 1 == THREADS)
        (void)raise(SIGTERM);
}

static void *run_until_signalled(void *arg) {
    struct job *job = arg;
    bool counted = false;
    struct bs_exec_request request = SHELL("echo ready; exec sleep 60");
    request.on_output = count_ready;
    request.on_output_ctx = &counted;
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    if (bs_exec_run(&request, &result, NULL) == BS_OK)
        job->good = result.termination == BS_ENDED_PARENT_SIGNAL && result.exit_code == 143 &&
                    result.pending_signals == 0;
    bs_exec_result_clear(&result);
    return NULL;
}

static void one_signal_ends_all_of_them(void **state) {
    (void)state;
    static struct job jobs[THREADS];
    atomic_store(&ready, 0);
    start_all(jobs, run_until_signalled);
    join_all(jobs);
}

static void *fail_to_run(void *arg) {
    struct job *job = arg;
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    request.program = job->with_stdin ? "/no/such/program" : "/";
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    job->good = bs_exec_run(&request, &result, NULL) == BS_E_EXECUTION;
    return NULL;
}

static void concurrent_failures_leave_no_resources(void **state) {
    (void)state;
    static struct job jobs[THREADS];
    start_all(jobs, fail_to_run);
    join_all(jobs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(sixty_four_concurrent_runs_do_not_mix),
        leaves_nothing(one_signal_ends_all_of_them),
        leaves_nothing(concurrent_failures_leave_no_resources),
    };
    return cmocka_run_group_tests_name("exec/run: threads", tests, NULL, NULL);
}
