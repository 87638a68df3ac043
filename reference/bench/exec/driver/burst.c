/* Starts many runs of `sleep 1` at once, one thread each. They take at least one second. The time
 * beyond that is compared with bare runs of /bin/true, which the same process makes before and
 * after. */
#define _GNU_SOURCE
#include <boxspec/exec.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bare.h"
#include "bench.h"

enum { SPAWNS = 150, STACK = 256 * 1024 };

struct sleeper {
    pthread_t thread;
    pthread_barrier_t *gate;
    bool library;
    bool ended_well;
    char why[256];
};

static void run_library(struct sleeper *sleeper) {
    static const char *const args[] = {"1"};
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    request.program = "/bin/sleep";
    request.args = args;
    request.n_args = 1;
    sleeper->ended_well = bs_exec_run(&request, &result, &err) == BS_OK && result.success;
    (void)snprintf(sleeper->why, sizeof sleeper->why, "%.255s", err.message);
    bs_exec_result_clear(&result);
}

static void run_bare(struct sleeper *sleeper) {
    static const char *const argv[] = {"/bin/sleep", "1", NULL};
    struct bare_run run;
    int os_error = bare_exec(argv, 0, &run);
    sleeper->ended_well = os_error == 0 && run.exit_code == 0;
    (void)snprintf(sleeper->why, sizeof sleeper->why, "error %d", os_error);
    bare_clear(&run);
}

static void *sleep_once(void *arg) {
    struct sleeper *sleeper = arg;
    (void)pthread_barrier_wait(sleeper->gate);
    if (sleeper->library)
        run_library(sleeper);
    else
        run_bare(sleeper);
    return NULL;
}

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool spawn_some(uint64_t *ns, size_t n) {
    static const char *const argv[] = {BENCH_TRUE, NULL};
    for (size_t i = 0; i < n; i++) {
        struct bare_run run;
        uint64_t start = bench_now_ns();
        bool ended = bare_exec(argv, 0, &run) == 0 && run.exit_code == 0;
        ns[i] = bench_now_ns() - start;
        bare_clear(&run);
        if (!ended)
            return false;
    }
    return true;
}

/* Raise the limit: a run needs up to four descriptors while it starts. */
static void raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Return the time from opening the gate until the last run has ended. The threads wait at the gate,
 * so that creating them is not measured. */
static uint64_t all_at_once(struct sleeper *sleepers, size_t n, bool library) {
    pthread_barrier_t gate;
    pthread_attr_t attr;
    size_t started = 0;
    uint64_t start = 0;
    (void)pthread_barrier_init(&gate, NULL, (unsigned)n + 1);
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, STACK);
    while (started < n) {
        struct sleeper *sleeper = &sleepers[started];
        sleeper->gate = &gate;
        sleeper->library = library;
        if (pthread_create(&sleeper->thread, &attr, sleep_once, sleeper) != 0)
            /* the threads that exist would wait at the gate forever, so end the process */
            exit(bench_broken("burst", "no thread could be had"));
        started++;
    }
    (void)pthread_attr_destroy(&attr);
    start = bench_now_ns();
    (void)pthread_barrier_wait(&gate);
    for (size_t i = 0; i < n; i++)
        (void)pthread_join(sleepers[i].thread, NULL);
    uint64_t wall = bench_now_ns() - start;
    (void)pthread_barrier_destroy(&gate);
    return wall;
}

int bench_burst(bool library, uint64_t runs) {
    raise_descriptor_limit();
    uint64_t spawns[2 * SPAWNS];
    struct sleeper *sleepers = calloc((size_t)runs, sizeof *sleepers);
    if (sleepers == NULL)
        return bench_broken("burst", "out of memory");
    int status = 0;
    bool before = spawn_some(spawns, SPAWNS);
    uint64_t wall = all_at_once(sleepers, (size_t)runs, library);
    if (!before || !spawn_some(&spawns[SPAWNS], SPAWNS))
        status = bench_broken("burst", BENCH_TRUE " did not run");
    for (size_t i = 0; i < runs && status == 0; i++)
        if (!sleepers[i].ended_well)
            status = bench_broken("a run of the burst", sleepers[i].why);
    free(sleepers);
    qsort(spawns, sizeof spawns / sizeof spawns[0], sizeof spawns[0], ascending);
    if (status == 0)
        (void)printf("{\"runs\": %" PRIu64 ", \"wall_ns\": %" PRIu64 ", \"spawn_ns\": %" PRIu64
                     "}\n",
                     runs, wall, spawns[SPAWNS]);
    return status;
}
