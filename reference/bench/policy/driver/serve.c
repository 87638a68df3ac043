/* Measures checks through `PROGRAM serve`: all paths in one request, and one path per request. The
 * client has a processor of its own if there are two. */
#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/buf.h"

enum { MOST_ROUNDS = 100000, PIPE_BYTES = 1 << 20 };

struct server {
    pid_t pid;
    int to;
    int from;
    struct bs_buf answer;
};

static bool start_server(struct server *server, char *program) {
    int to[2];
    int from[2];
    if (pipe2(to, O_CLOEXEC) != 0)
        return false;
    if (pipe2(from, O_CLOEXEC) != 0) {
        (void)close(to[0]);
        (void)close(to[1]);
        return false;
    }
    /* Make the pipe large enough for a whole request or answer: a smaller one would only cause more
     * context switches. */
    (void)fcntl(to[1], F_SETPIPE_SZ, PIPE_BYTES);
    (void)fcntl(from[1], F_SETPIPE_SZ, PIPE_BYTES);
    posix_spawn_file_actions_t actions;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    (void)posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    char serve[] = "serve";
    char *argv[] = {program, serve, NULL};
    bench_pin(1);
    int failed = posix_spawn(&server->pid, program, &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(to[0]);
    (void)close(from[1]);
    server->to = to[1];
    server->from = from[0];
    server->answer = (struct bs_buf)BS_BUF_INIT;
    if (failed == 0)
        return true;
    (void)close(to[1]);
    (void)close(from[0]);
    return false;
}

static bool stop_server(struct server *server) {
    int status = 0;
    (void)close(server->to);
    (void)close(server->from);
    bs_buf_clear(&server->answer);
    while (waitpid(server->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Send one line and read one line. The answer is in the server's buffer, with a NUL at its end. */
static bool ask(struct server *server, const struct bs_buf *line) {
    for (size_t done = 0; done < line->len;) {
        ssize_t n = write(server->to, line->data + done, line->len - done);
        if (n < 0)
            return false;
        done += (size_t)n;
    }
    struct bs_buf *in = &server->answer;
    in->len = 0;
    do {
        if (!bs_buf_reserve(in, PIPE_BYTES))
            return false;
        ssize_t n = read(server->from, in->data + in->len, PIPE_BYTES);
        if (n <= 0)
            return false;
        in->len += (size_t)n;
    } while (in->data[in->len - 1] != '\n');
    in->data[in->len - 1] = '\0';
    return true;
}

static struct bs_buf request(const char *policy, const struct bench_text *paths, size_t n) {
    struct bs_buf line = BS_BUF_INIT;
    cJSON *root = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(root, "id", "b");
    (void)cJSON_AddStringToObject(root, "op", "policy.check");
    cJSON *given = cJSON_AddObjectToObject(root, "policy");
    (void)cJSON_AddStringToObject(given, "text", policy);
    (void)cJSON_AddStringToObject(given, "format", "json");
    cJSON *checks = cJSON_AddArrayToObject(root, "checks");
    for (size_t i = 0; i < n; i++) {
        cJSON *check = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(check, "profile", BENCH_PROFILE);
        (void)cJSON_AddStringToObject(check, "op", "read");
        (void)cJSON_AddStringToObject(check, "path", paths[i].data);
        (void)cJSON_AddItemToArray(checks, check);
    }
    char *text = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    bs_buf_str(&line, text == NULL ? "" : text);
    bs_buf_char(&line, '\n');
    cJSON_free(text);
    return line;
}

/* True if the first answer agrees with another engine about each path. */
static bool right(const char *answer, const struct bench_lines *rules,
                  const struct bench_lines *paths) {
    char why[256];
    void *peer = bench_pcre2.compile(rules, why, sizeof why);
    cJSON *root = cJSON_Parse(answer);
    cJSON *item = cJSON_GetObjectItem(cJSON_GetObjectItem(root, "result"), "checks");
    item = item == NULL ? NULL : item->child;
    bool good = peer != NULL;
    for (size_t i = 0; good && i < paths->n; i++, item = item->next) {
        ptrdiff_t rule = bench_pcre2.highest(peer, paths->items[i].data, paths->items[i].len);
        const char *named = cJSON_GetStringValue(cJSON_GetObjectItem(item, "matched_rule"));
        good = item != NULL && named != NULL &&
               cJSON_IsTrue(cJSON_GetObjectItem(item, "allowed")) == (rule >= 0) &&
               (rule < 0 || strcmp(named, rules->items[rule].data) == 0);
        if (!good)
            (void)fprintf(stderr, "path %s: wrong answer\n", paths->items[i].data);
        if (item == NULL)
            break;
    }
    if (!good)
        (void)fprintf(stderr, "%.400s\n", answer);
    cJSON_Delete(root);
    if (peer != NULL)
        bench_pcre2.drop(peer);
    return good;
}

/* Return the processor time of the server process. */
static uint64_t cpu_ns(const struct server *server) {
    clockid_t clock;
    struct timespec used = {0, 0};
    if (clock_getcpuclockid(server->pid, &clock) == 0)
        (void)clock_gettime(clock, &used);
    return (uint64_t)used.tv_sec * UINT64_C(1000000000) + (uint64_t)used.tv_nsec;
}

static size_t rounds_of(struct server *server, const struct bs_buf *line, uint64_t *ns, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t start = bench_now_ns();
        if (!ask(server, line))
            return 0;
        ns[i] = bench_now_ns() - start;
    }
    return n;
}

static bool measure(struct server *server, const struct bench_lines *rules,
                    const struct bench_lines *paths, size_t rounds) {
    static uint64_t batch_ns[MOST_ROUNDS];
    static uint64_t single_ns[MOST_ROUNDS];
    char *policy = bench_policy_text(rules);
    struct bs_buf batch = request(policy, paths->items, paths->n);
    struct bs_buf single = request(policy, paths->items, 1);
    bench_pin(0);
    bool good = policy != NULL && !batch.failed && !single.failed && ask(server, &batch) &&
                right(server->answer.data, rules, paths);
    size_t singles = rounds * 20 < MOST_ROUNDS ? rounds * 20 : MOST_ROUNDS;
    uint64_t before = cpu_ns(server);
    good = good && rounds_of(server, &batch, batch_ns, rounds) == rounds;
    uint64_t used = cpu_ns(server) - before;
    good = good && rounds_of(server, &single, single_ns, singles) == singles;
    if (good) {
        (void)printf("{\"paths\":%zu,\"batch_bytes\":%zu,\"cpu_ns\":%" PRIu64 ",", paths->n,
                     batch.len, used / rounds);
        bench_print_all("batch_ns", batch_ns, rounds);
        (void)printf(",");
        bench_print_all("single_ns", single_ns, singles);
        (void)printf("}\n");
    }
    free(policy);
    bs_buf_clear(&batch);
    bs_buf_clear(&single);
    return good;
}

/* The arguments are: serve PROGRAM RULES PATHS ROUNDS */
int bench_serve(int argc, char **argv) {
    struct bench_lines rules = {NULL, 0, NULL};
    struct bench_lines paths = {NULL, 0, NULL};
    struct server server;
    uint64_t rounds = 0;
    if (argc != 4 || !bench_number(argv[3], &rounds) || rounds == 0 || rounds > MOST_ROUNDS)
        return bench_broken("serve", "wants PROGRAM RULES PATHS ROUNDS");
    (void)signal(SIGPIPE, SIG_IGN);
    bool good = bench_read_lines(argv[1], &rules) && bench_read_lines(argv[2], &paths);
    if (good && !start_server(&server, argv[0])) {
        (void)bench_broken(argv[0], "cannot be started");
        good = false;
    } else if (good) {
        good = measure(&server, &rules, &paths, (size_t)rounds);
        good = stop_server(&server) && good;
    }
    bench_drop_lines(&rules);
    bench_drop_lines(&paths);
    return good ? 0 : bench_broken("serve", "the program did not answer as it should");
}
