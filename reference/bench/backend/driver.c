/* Measures the start of a program in three ways: in a session of a backend, by a plain wrapper, and
 * by a plain start of the launcher.
 *
 * boxspec-bench-backend BACKEND WORKSPACE LAUNCHER SANDBOXER ROUNDS
 *
 * Prints one line of JSON with the nanoseconds of each round; the script `run` in this folder makes
 * the table. All three start through bs_exec_run, so the library's own time is part of each. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <boxspec/backend.h>

#include "policy/driver/bench.h"

enum { MOST_ROUNDS = 1000 };

static struct bs_error error;

struct bench {
    struct bs_session *session;
    bool namespaces;
    const char *workspace;
    const char *launcher;
    const char *sandboxer;
};

static uint64_t now_ns(void) {
    struct timespec at;
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000U + (uint64_t)at.tv_nsec;
}

static bool succeeded(int code, struct bs_exec_result *result) {
    bool good = code == BS_OK && result->success;
    bs_exec_result_clear(result);
    return good;
}

static bool start(const char *program, const char *const *args, size_t n) {
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    request.program = program;
    request.args = args;
    request.n_args = n;
    request.stdin_mode = BS_STDIN_NULL;
    return succeeded(bs_exec_run(&request, &result, &error), &result);
}

static bool in_session(const struct bench *bench) {
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    request.program = "/bin/true";
    request.stdin_mode = BS_STDIN_NULL;
    return succeeded(bs_session_run(bench->session, &request, &result, &error), &result);
}

/* Run bubblewrap with the options that people usually give it. */
static bool bare_wrapper(const struct bench *bench) {
    const char *const args[] = {"--unshare-all",
                                "--share-net",
                                "--die-with-parent",
                                "--cap-drop",
                                "ALL",
                                "--ro-bind",
                                "/",
                                "/",
                                "--dev",
                                "/dev",
                                "--proc",
                                "/proc",
                                "--tmpfs",
                                "/tmp",
                                "--bind",
                                bench->workspace,
                                bench->workspace,
                                "--chdir",
                                bench->workspace,
                                "/bin/true"};
    const char *const words[] = {bench->workspace, "/bin/true"};
    if (!bench->namespaces)
        return start(bench->sandboxer, words, sizeof words / sizeof *words);
    return start("/usr/bin/bwrap", args, sizeof args / sizeof *args);
}

static bool nothing(const struct bench *bench) {
    (void)bench;
    return start("/bin/true", NULL, 0);
}

static bool bare_launcher(const struct bench *bench) {
    static const char *const args[] = {"--version"};
    return start(bench->launcher, args, 1);
}

static const struct {
    const char *name;
    bool (*once)(const struct bench *bench);
} turns[] = {{"session_ns", in_session},
             {"wrapper_ns", bare_wrapper},
             {"launcher_ns", bare_launcher},
             {"nothing_ns", nothing}};

enum { TURNS = sizeof turns / sizeof *turns };

/* Each round starts the three variants in a different order. The first round warms the caches and
 * is discarded. */
static bool measure(const struct bench *bench, size_t rounds) {
    static uint64_t ns[TURNS][MOST_ROUNDS];
    for (size_t i = 0; i <= rounds; i++) {
        for (unsigned k = 0; k < TURNS; k++) {
            unsigned which = (unsigned)(i + k) % TURNS;
            uint64_t at = now_ns();
            if (!turns[which].once(bench))
                return false;
            ns[which][i > 0 ? i - 1 : 0] = now_ns() - at;
        }
    }
    for (unsigned k = 0; k < TURNS; k++) {
        (void)printf(k == 0 ? "{" : ",");
        bench_print_all(turns[k].name, ns[k], rounds);
    }
    (void)printf("}\n");
    return true;
}

int main(int argc, char **argv) {
    uint64_t rounds = 0;
    struct bs_backend_context context = BS_BACKEND_CONTEXT_INIT;
    struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
    struct bench bench = {.session = NULL};
    const struct bs_backend *backend = argc == 6 ? bs_backend_find(argv[1]) : NULL;
    if (backend == NULL || !bench_number(argv[5], &rounds) || rounds == 0 || rounds > MOST_ROUNDS) {
        (void)fputs("usage: boxspec-bench-backend BACKEND WORKSPACE LAUNCHER SANDBOXER ROUNDS\n",
                    stderr);
        return 2;
    }
    bench.workspace = context.root = argv[2];
    bench.launcher = context.launcher = argv[3];
    bench.sandboxer = argv[4];
    bench.namespaces = strstr(backend->mechanism, "namespaces") != NULL;
    int code =
        bs_session_open(backend, &context, BS_DEGRADE, NULL, &bench.session, &report, &error);
    bool good = code == BS_OK && bs_session_enforcement(bench.session) != BS_CLAIM_UNAVAILABLE;
    if (code == BS_OK && !good)
        (void)snprintf(error.message, sizeof error.message, "it confines nothing here");
    good = good && measure(&bench, (size_t)rounds);
    (void)bs_session_close(bench.session, NULL);
    bs_backend_report_clear(&report);
    return good ? 0 : bench_broken(argv[1], error.message);
}
