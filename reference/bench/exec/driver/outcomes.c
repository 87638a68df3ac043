/* Makes runs that end in all possible ways, and compares the resources of the process before and
 * after. */
#define _GNU_SOURCE
#include <boxspec/exec.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bench.h"

struct outcome {
    const char *name;
    struct bs_exec_request request;
    int code;
    enum bs_termination ended; /* the expected result, which is used only if the code is BS_OK */
};

enum { OUTCOMES = 12, PAYLOAD = 1024 * 1024 };

static const char payload[PAYLOAD];
static const char *const exit_seven[] = {"-c", "exit 7"};
static const char *const die[] = {"-c", "kill -9 $$"};
static const char *const say_and_wait[] = {"-c", "echo; exec sleep 60"};
static const char *const a_minute[] = {"60"};
static const uint64_t timeouts_ms[] = {0, 1};
static const uint64_t cap = 4096;

static struct outcome named(const char *name, const char *program, const char *const *args,
                            size_t n_args) {
    struct outcome outcome = {name, BS_EXEC_REQUEST_INIT, BS_OK, BS_ENDED_EXIT};
    outcome.request.program = program;
    outcome.request.args = args;
    outcome.request.n_args = n_args;
    outcome.request.stdin_mode = BS_STDIN_NULL;
    return outcome;
}

/* Send a signal to this process. During a run the library's handler is installed, so the signal
 * ends the run and not the process. */
static void interrupt_us(void *ctx, enum bs_stream stream, const char *data, size_t len) {
    (void)ctx;
    (void)stream;
    (void)data;
    (void)len;
    (void)kill(getpid(), SIGTERM);
}

static void prepare(struct outcome *all, const int *cancel_fd) {
    size_t n = 0;
    struct outcome *next = NULL;

    all[n++] = named("exit 0", BENCH_TRUE, NULL, 0);
    all[n++] = named("exit 7", "sh", exit_seven, 2);

    next = &all[n++];
    *next = named("signal", "sh", die, 2);
    next->ended = BS_ENDED_SIGNAL;

    for (size_t i = 0; i < 2; i++) {
        next = &all[n++];
        *next = named(i == 0 ? "timeout 0 ms" : "timeout 1 ms", "sleep", a_minute, 1);
        next->request.timeout_ms = &timeouts_ms[i];
        next->ended = BS_ENDED_TIMEOUT;
    }

    next = &all[n++];
    *next = named("no such program", "/nonexistent/program", NULL, 0);
    next->code = BS_E_EXECUTION;
    next = &all[n++];
    *next = named("no such directory", BENCH_TRUE, NULL, 0);
    next->request.current_dir = "/nonexistent";
    next->code = BS_E_EXECUTION;

    for (int strict = 0; strict < 2; strict++) {
        next = &all[n++];
        *next = named(strict ? "payload refused" : "payload ignored", BENCH_TRUE, NULL, 0);
        next->request.stdin_mode = BS_STDIN_BYTES;
        next->request.stdin_data = payload;
        next->request.stdin_len = sizeof payload;
        next->request.stdin_failure = strict ? BS_STDIN_FAILURE_ERROR : BS_STDIN_FAILURE_IGNORE;
        next->code = strict ? BS_E_EXECUTION : BS_OK;
    }

    next = &all[n++];
    *next = named("cap", "yes", NULL, 0);
    next->request.max_output_bytes = &cap;
    next->ended = BS_ENDED_CAP;

    next = &all[n++];
    *next = named("cancel", "sleep", a_minute, 1);
    next->request.cancel_fd = cancel_fd;
    next->ended = BS_ENDED_CANCEL;

    next = &all[n++];
    *next = named("parent signal", "sh", say_and_wait, 2);
    next->request.on_output = interrupt_us;
    next->ended = BS_ENDED_PARENT_SIGNAL;
}

static bool run_once(const struct outcome *outcome) {
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    int code = bs_exec_run(&outcome->request, &result, &err);
    bool expected =
        code == outcome->code && (code != BS_OK || result.termination == outcome->ended);
    if (!expected)
        (void)fprintf(stderr, "%s: code %d, termination %d: %s\n", outcome->name, code,
                      (int)result.termination, err.message);
    bs_exec_result_clear(&result);
    return expected;
}

static uint64_t run_many(const struct outcome *all, uint64_t runs) {
    uint64_t unexpected = 0;
    for (uint64_t i = 0; i < runs; i++)
        unexpected += !run_once(&all[i % OUTCOMES]);
    return unexpected;
}

static void print_holdings(const char *when, struct bench_holdings held) {
    (void)printf("\"%s\": {\"descriptors\": %u, \"threads\": %u, \"zombies\": %u, \"alive\": %s}",
                 when, held.descriptors, held.threads, held.zombies,
                 held.children ? "true" : "false");
}

int bench_outcomes(uint64_t runs) {
    struct outcome all[OUTCOMES];
    /* If a process outlives its run, it becomes a child of this process, so it is counted. */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    int cancel_fd = eventfd(1, EFD_CLOEXEC);
    if (cancel_fd < 0)
        return bench_broken("outcomes", "no eventfd");
    prepare(all, &cancel_fd);
    /* One round before the measurement: resources that the library keeps for the next run are no
     * leak. */
    uint64_t unexpected = run_many(all, OUTCOMES);
    struct bench_holdings before = bench_holdings();
    uint64_t start = bench_now_ns();
    unexpected += run_many(all, runs);
    uint64_t ns = bench_now_ns() - start;
    struct bench_holdings after = bench_holdings();
    (void)close(cancel_fd);
    (void)printf("{\"runs\": %" PRIu64 ", \"ns\": %" PRIu64 ", \"unexpected\": %" PRIu64 ", ", runs,
                 ns, unexpected);
    print_holdings("before", before);
    (void)printf(", ");
    print_holdings("after", after);
    (void)printf("}\n");
    return 0;
}
