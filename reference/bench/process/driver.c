/* Measures a bridge in comparison with a relay by splice, and a process handle (open, wait, drop)
 * in comparison with a bare spawn.
 *
 *     boxspec-bench-process trips COUNT BYTES   round trips through an echo, alternately
 *     boxspec-bench-process stream MIB ROUNDS   MIB from a program to its client, alternately
 *     boxspec-bench-process opens COUNT         from the call to the end of /bin/true, alternately
 *
 * Prints one line of JSON, in nanoseconds; the script `run` in this folder makes the table. */
#define _GNU_SOURCE
#include <boxspec/process.h>

#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/driver/bench.h"
#include "process/relay.h"

enum { MOST_BYTES = 64 * 1024, CHUNK = 256 * 1024 };

static const char *const names[] = {"bridge", "splice"};

/* A bridge or a relay with its program, and the ends of the pipes to it that the client uses. */
struct behind {
    pid_t pid;
    int in;
    int out;
};

static void be_between(bool bridge, const char *const *argv) {
    if (!bridge)
        _exit(relay_run(argv));
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    struct bs_process_end end;
    size_t n = 0;
    while (argv[n + 1] != NULL)
        n++;
    request.program = argv[0];
    request.args = argv + 1;
    request.n_args = n;
    _exit(bs_process_bridge(&request, NULL, &end, NULL) == BS_OK ? end.number : 1);
}

static bool start(struct behind *behind, bool bridge, const char *const *argv) {
    int in[2];
    int out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        return false;
    behind->pid = fork();
    if (behind->pid == 0) {
        /* Close the copies of the client's ends. If the child kept them, the other child would
         * never see end-of-file. */
        if (dup2(in[0], 0) != 0 || dup2(out[1], 1) != 1 || close_range(3, ~0U, 0) != 0)
            _exit(1);
        be_between(bridge, argv);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    behind->in = in[1];
    behind->out = out[0];
    return behind->pid > 0;
}

static bool end(struct behind *behind) {
    int status = 0;
    (void)close(behind->in);
    bool ended = waitpid(behind->pid, &status, 0) == behind->pid && status == 0;
    (void)close(behind->out);
    return ended;
}

static bool read_all(int fd, char *to, size_t size) {
    while (size > 0) {
        ssize_t n = read(fd, to, size);
        if (n <= 0)
            return false;
        to += n;
        size -= (size_t)n;
    }
    return true;
}

static bool write_all(int fd, const char *from, size_t size) {
    while (size > 0) {
        ssize_t n = write(fd, from, size);
        if (n <= 0)
            return false;
        from += n;
        size -= (size_t)n;
    }
    return true;
}

static void put(const char *name, const uint64_t *took, size_t n) {
    (void)printf("\"%s\": [", name);
    for (size_t i = 0; i < n; i++)
        (void)printf("%s%" PRIu64, i > 0 ? ", " : "", took[i]);
    (void)printf("]");
}

static int put_both(uint64_t *const took[2], size_t n, const char *const words[2]) {
    (void)printf("{");
    put(words[0], took[0], n);
    (void)printf(", ");
    put(words[1], took[1], n);
    (void)printf("}\n");
    return 0;
}

static int trips(size_t count, size_t bytes, uint64_t *const took[2]) {
    static const char *const echo[] = {"/bin/cat", NULL};
    static char sent[MOST_BYTES];
    static char got[MOST_BYTES];
    struct behind behind[2];
    memset(sent, 'x', sizeof sent);
    if (!start(&behind[0], true, echo) || !start(&behind[1], false, echo))
        return bench_broken("trips", "nothing could be started");
    /* The bridge and the relay take turns in going first. The first tenth of the trips only warms
     * the caches. */
    for (size_t i = 0; i < count + count / 10; i++) {
        for (size_t turn = 0; turn < 2; turn++) {
            size_t who = (i + turn) % 2;
            uint64_t begin = bench_now_ns();
            if (!write_all(behind[who].in, sent, bytes) || !read_all(behind[who].out, got, bytes))
                return bench_broken("trips", names[who]);
            if (i >= count / 10)
                took[who][i - count / 10] = bench_now_ns() - begin;
        }
    }
    if (!end(&behind[0]) || !end(&behind[1]))
        return bench_broken("trips", "an end was no success");
    return put_both(took, count, names);
}

static uint64_t stream_once(bool bridge, uint64_t mib) {
    static char chunk[CHUNK];
    struct bench_writer writer;
    struct behind behind;
    uint64_t total = 0;
    ssize_t n = 0;
    bench_writer_init(&writer, mib);
    uint64_t begin = bench_now_ns();
    if (!start(&behind, bridge, writer.argv))
        return 0;
    while ((n = read(behind.out, chunk, sizeof chunk)) > 0)
        total += (uint64_t)n;
    uint64_t took = bench_now_ns() - begin;
    return end(&behind) && total == mib * BENCH_MIB ? took : 0;
}

static int stream(uint64_t mib, size_t rounds, uint64_t *const took[2]) {
    for (size_t i = 0; i < rounds; i++) {
        for (size_t turn = 0; turn < 2; turn++) {
            size_t who = (i + turn) % 2;
            took[who][i] = stream_once(who == 0, mib);
            if (took[who][i] == 0)
                return bench_broken("stream", names[who]);
        }
    }
    return put_both(took, rounds, names);
}

static uint64_t open_once(void) {
    static const struct bs_stdio piped = {BS_STDIO_PIPED, BS_STDIO_PIPED, BS_STDIO_PIPED, false};
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    struct bs_process *process = NULL;
    struct bs_process_end ended;
    request.program = BENCH_TRUE;
    uint64_t begin = bench_now_ns();
    if (bs_process_open(&request, &piped, NULL, &process, NULL) != BS_OK)
        return 0;
    int code = bs_process_wait(process, NULL, &ended, NULL);
    bs_process_drop(process);
    return code == BS_OK && ended.number == 0 ? bench_now_ns() - begin : 0;
}

/* Return the nanoseconds for making three pipes, posix_spawn and waitpid, or 0 after an error. */
static uint64_t spawn_once(void) {
    static const char *const argv[] = {BENCH_TRUE, NULL};
    posix_spawn_file_actions_t actions;
    int pipes[3][2];
    pid_t pid = -1;
    int status = 1;
    uint64_t begin = bench_now_ns();
    bool ready = posix_spawn_file_actions_init(&actions) == 0;
    for (int i = 0; i < 3; i++)
        ready = ready && pipe2(pipes[i], O_CLOEXEC) == 0 &&
                posix_spawn_file_actions_adddup2(&actions, pipes[i][i == 0 ? 0 : 1], i) == 0;
    if (!ready ||
        posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ) != 0)
        return 0;
    (void)posix_spawn_file_actions_destroy(&actions);
    for (int i = 0; i < 3; i++)
        (void)close(pipes[i][i == 0 ? 0 : 1]);
    (void)waitpid(pid, &status, 0);
    for (int i = 0; i < 3; i++)
        (void)close(pipes[i][i == 0 ? 1 : 0]);
    return status == 0 ? bench_now_ns() - begin : 0;
}

static int opens(size_t count, uint64_t *const took[2]) {
    static const char *const words[] = {"open", "bare"};
    for (size_t i = 0; i < count; i++) {
        for (size_t turn = 0; turn < 2; turn++) {
            size_t who = (i + turn) % 2;
            took[who][i] = who == 0 ? open_once() : spawn_once();
            if (took[who][i] == 0)
                return bench_broken("opens", words[who]);
        }
    }
    return put_both(took, count, words);
}

int main(int argc, char **argv) {
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    uint64_t second = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    if (argc == 3 && strcmp(argv[1], "pour") == 0)
        return bench_pour(first);
    bool streams = argc == 4 && strcmp(argv[1], "stream") == 0;
    size_t count = (size_t)(streams ? second : first);
    uint64_t *took[2] = {calloc(count + 1, sizeof **took), calloc(count + 1, sizeof **took)};
    int status = 2;
    if (took[0] == NULL || took[1] == NULL)
        status = bench_broken("start", "out of memory");
    else if (streams)
        status = stream(first, count, took);
    else if (argc == 4 && strcmp(argv[1], "trips") == 0 && second > 0 && second <= MOST_BYTES)
        status = trips(count, (size_t)second, took);
    else if (argc == 3 && strcmp(argv[1], "opens") == 0)
        status = opens(count, took);
    else
        (void)fprintf(stderr, "usage: trips COUNT BYTES | stream MIB ROUNDS | opens COUNT\n");
    free(took[0]);
    free(took[1]);
    return status;
}
