/* Calls of a backend that do not return in time: the caller continues, and the call's arguments
 * stay valid as long as the call runs. */
#define _GNU_SOURCE
#include <boxspec/backend.h>

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fcntl.h>

#include "base/sys.h"
#include "support/folder.h"
#include "support/harness.h"

uint64_t __real_bs_after_ms(uint64_t start_ns, uint64_t ms);
uint64_t __wrap_bs_after_ms(uint64_t start_ns, uint64_t ms);

/* Shorten the real time limits, which are ten seconds. */
uint64_t __wrap_bs_after_ms(uint64_t start_ns, uint64_t ms) {
    return __real_bs_after_ms(start_ns, ms >= 100 ? ms / 100 : ms);
}

enum { CALL, GO, SAID, PIPES };

/* Its thread must not use assertions, so it reports what it saw through a pipe. */
struct deaf {
    int pipes[PIPES][2];
    bool probes; /* the probe blocks; otherwise prepare does */
};

static void say(const struct deaf *deaf, const char *text) {
    (void)!write(deaf->pipes[SAID][1], text, text != NULL ? strlen(text) + 1 : 0);
}

static void be_deaf(const struct deaf *deaf, const struct bs_backend_context *context) {
    struct pollfd go = {deaf->pipes[GO][0], POLLIN, 0};
    (void)!write(deaf->pipes[CALL][1], "c", 1);
    (void)poll(&go, 1, 20000);
    say(deaf, context->root);
    say(deaf, context->cwd != NULL ? context->cwd : "no cwd");
    say(deaf, context->egress[1]);
    say(deaf, context->readable[0]);
    say(deaf, context->launcher);
    say(deaf, context->policy->profile);
    (void)!write(deaf->pipes[SAID][1], context->policy->global.data, context->policy->global.len);
    (void)!write(deaf->pipes[SAID][1], context->policy->workspace.data,
                 context->policy->workspace.len);
    bs_close(&((struct deaf *)(uintptr_t)deaf)->pipes[SAID][1]);
}

static int probe(void *ctx, const struct bs_backend_context *context, int cancel,
                 struct bs_backend_report *report, struct bs_error *err) {
    const struct deaf *deaf = ctx;
    bool good = true;
    (void)cancel;
    (void)err;
    if (deaf->probes)
        be_deaf(deaf, context);
    for (int i = 0; good && i < BS_ASPECTS; i++)
        good = bs_report_claim(report, (enum bs_aspect)i, BS_CLAIM_FULLY);
    bs_report_conclude(report, context, false);
    return BS_OK;
}

static int prepare(void *ctx, const struct bs_backend_context *context, int cancel, void **state,
                   struct bs_backend_report *report, struct bs_error *err) {
    (void)cancel;
    (void)state;
    (void)report;
    (void)err;
    be_deaf(ctx, context);
    return BS_OK;
}

static int shut_down(void *ctx, void *state, struct bs_error *err) {
    (void)ctx;
    (void)state;
    (void)err;
    return BS_OK;
}

/* A context as a caller has it, each piece in a separate block. */
struct given {
    struct bs_backend_context context;
    struct bs_backend_policy policy;
    char *blocks[9];
    size_t n;
    const char *egress[2];
    const char *readable[1];
};

static const char *block(struct given *given, const char *text) {
    char *copy = strdup(text);
    assert_non_null(copy);
    assert_true(given->n < LENGTH(given->blocks));
    given->blocks[given->n++] = copy;
    return copy;
}

#define POLICY(spec)                                                                               \
    "{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{\"name\":\"n\"},\"spec\":{" spec "}}"
#define GLOBAL POLICY("\"fsProfiles\":{\"mine\":{\"read\":[\"./**\"]}}")
#define WORKSPACE POLICY("\"denyRead\":[\"a\"]")

static struct given *give(const char *root) {
    struct given *given = calloc(1, sizeof *given);
    assert_non_null(given);
    given->context = (struct bs_backend_context)BS_BACKEND_CONTEXT_INIT;
    given->context.root = block(given, root);
    given->context.cwd = block(given, root);
    given->context.launcher = block(given, "/the/launcher");
    given->egress[0] = block(given, "a.example:1");
    given->egress[1] = block(given, "b.example:2");
    given->context.egress = given->egress;
    given->context.n_egress = 2;
    given->readable[0] = block(given, "/readable");
    given->context.readable = given->readable;
    given->context.n_readable = 1;
    given->policy.profile = block(given, "mine");
    given->policy.global =
        (struct bs_policy_text){block(given, GLOBAL), sizeof GLOBAL - 1, BS_POLICY_JSON};
    given->policy.workspace =
        (struct bs_policy_text){block(given, WORKSPACE), sizeof WORKSPACE - 1, BS_POLICY_JSON};
    given->policy.has_workspace = true;
    given->context.policy = &given->policy;
    return given;
}

/* Overwrite the memory before freeing it, so that builds without a sanitizer detect a late use,
 * too. */
static void take_back(struct given *given) {
    for (size_t i = 0; i < given->n; i++) {
        memset(given->blocks[i], '!', strlen(given->blocks[i]));
        free(given->blocks[i]);
    }
    memset(given, 0, sizeof *given);
    free(given);
}

static void make_pipes(struct deaf *deaf) {
    for (int i = 0; i < PIPES; i++)
        assert_int_equal(pipe2(deaf->pipes[i], O_CLOEXEC), 0);
}

/* Let the call continue, and read all that it reports. */
static void assert_it_saw(struct deaf *deaf, const char *root) {
    char expected[1024];
    char said[1024];
    size_t len = 0;
    ssize_t n = 0;
    const char *const texts[] = {root, root, "b.example:2", "/readable", "/the/launcher", "mine"};
    size_t wanted = 0;
    for (size_t i = 0; i < LENGTH(texts); i++) {
        (void)memcpy(expected + wanted, texts[i], strlen(texts[i]) + 1);
        wanted += strlen(texts[i]) + 1;
    }
    (void)memcpy(expected + wanted, GLOBAL WORKSPACE, sizeof GLOBAL WORKSPACE - 1);
    wanted += sizeof GLOBAL WORKSPACE - 1;
    (void)!write(deaf->pipes[GO][1], "g", 1);
    while (len < sizeof said && (n = read(deaf->pipes[SAID][0], said + len, sizeof said - len)) > 0)
        len += (size_t)n;
    for (int i = 0; i < PIPES; i++) {
        bs_close(&deaf->pipes[i][0]);
        if (i != SAID)
            bs_close(&deaf->pipes[i][1]);
    }
    assert_int_equal(len, wanted);
    assert_memory_equal(said, expected, wanted);
}

/* The session and all its memory are gone. */
static void a_call_that_timed_out_keeps_its_context(void **state) {
    struct folder *folder = *state;
    char *root = realpath(folder->path, NULL);
    for (int probes = 0; probes < 2; probes++) {
        static struct deaf deafs[2];
        struct deaf *deaf = &deafs[probes];
        struct bs_backend *backend = malloc(sizeof *backend);
        struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
        struct bs_error err = BS_ERROR_INIT;
        struct bs_session *session = NULL;
        char called = 0;
        assert_non_null(backend);
        make_pipes(deaf);
        deaf->probes = probes == 1;
        *backend = (struct bs_backend){.name = "deaf",
                                       .mechanism = "none",
                                       .ctx = deaf,
                                       .probe = probe,
                                       .prepare = prepare,
                                       .shutdown = shut_down};
        struct given *given = give(root);
        int code =
            bs_session_open(backend, &given->context, BS_REFUSE, NULL, &session, &report, &err);
        bs_backend_report_clear(&report);
        take_back(given);
        memset(backend, 0, sizeof *backend);
        free(backend);
        assert_int_equal(code, BS_E_DENIED);
        assert_non_null(strstr(err.message, "did not return, and not when it was told to"));
        assert_int_equal(read(deaf->pipes[CALL][0], &called, 1), 1);
        assert_it_saw(deaf, root);
    }
    free(root);
}

static void a_single_probe_that_timed_out_keeps_its_context(void **state) {
    static struct deaf deaf;
    struct folder *folder = *state;
    struct bs_backend backend = {.name = "deaf", .ctx = &deaf, .probe = probe};
    struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
    make_pipes(&deaf);
    deaf.probes = true;
    struct given *given = give(folder->path);
    int code = bs_backend_probe(&backend, &given->context, -1, &report, NULL);
    bs_backend_report_clear(&report);
    take_back(given);
    assert_int_equal(code, BS_E_EXECUTION);
    assert_it_saw(&deaf, folder->path);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_call_that_timed_out_keeps_its_context),
        IN_FOLDER(a_single_probe_that_timed_out_keeps_its_context),
    };
    return cmocka_run_group_tests_name("backend/ask", tests, NULL, NULL);
}
