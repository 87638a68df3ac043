/* Tests calls of a backend that do not return in time. The caller continues, and the arguments of
 * such a call must stay valid as long as it runs. */
#define _GNU_SOURCE
#include <boxspec/backend.h>
#include <boxspec/profile.h>

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

/* Make the real time limits, which are about ten seconds, a hundred times shorter. */
uint64_t __wrap_bs_after_ms(uint64_t start_ns, uint64_t ms) {
    return __real_bs_after_ms(start_ns, ms >= 100 ? ms / 100 : ms);
}

enum { CALL, GO, SAID, PIPES };

/* A call that blocks until the test releases it. Its thread must not use assertions, so it reports
 * its observations through a pipe. */
struct blocked_call {
    int pipes[PIPES][2];
    bool probes; /* true if probe blocks, false if prepare does */
};

static void report_text(const struct blocked_call *blocked_call, const char *text) {
    (void)!write(blocked_call->pipes[SAID][1], text, text != NULL ? strlen(text) + 1 : 0);
}

static void block_until_go(const struct blocked_call *blocked_call,
                           const struct bs_backend_context *context) {
    struct pollfd go = {blocked_call->pipes[GO][0], POLLIN, 0};
    (void)!write(blocked_call->pipes[CALL][1], "c", 1);
    (void)poll(&go, 1, 20000);
    report_text(blocked_call, context->root);
    report_text(blocked_call, context->cwd != NULL ? context->cwd : "no cwd");
    report_text(blocked_call, context->egress[1]);
    report_text(blocked_call, context->readable[0]);
    report_text(blocked_call, context->launcher);
    report_text(blocked_call, context->policy->profile);
    report_text(blocked_call, bs_profile_name(context->profile));
    (void)!write(blocked_call->pipes[SAID][1], context->policy->global.data,
                 context->policy->global.len);
    (void)!write(blocked_call->pipes[SAID][1], context->policy->workspace.data,
                 context->policy->workspace.len);
    bs_close(&((struct blocked_call *)(uintptr_t)blocked_call)->pipes[SAID][1]);
}

static int probe(void *ctx, const struct bs_backend_context *context, int cancel,
                 struct bs_backend_report *report, struct bs_error *err) {
    const struct blocked_call *blocked_call = ctx;
    bool good = true;
    (void)cancel;
    (void)err;
    if (blocked_call->probes)
        block_until_go(blocked_call, context);
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
    block_until_go(ctx, context);
    return BS_OK;
}

static int shut_down(void *ctx, void *state, struct bs_error *err) {
    (void)ctx;
    (void)state;
    (void)err;
    return BS_OK;
}

/* A context in the memory of a caller. Each of its parts is in a separate block. */
struct caller_context {
    struct bs_backend_context context;
    struct bs_backend_policy policy;
    char *blocks[9];
    size_t n;
    const char *egress[2];
    const char *readable[1];
};

static const char *block(struct caller_context *caller_context, const char *text) {
    char *copy = strdup(text);
    assert_non_null(copy);
    assert_true(caller_context->n < LENGTH(caller_context->blocks));
    caller_context->blocks[caller_context->n++] = copy;
    return copy;
}

#define POLICY(spec)                                                                               \
    "{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{\"name\":\"n\"},\"spec\":{" spec "}}"
#define GLOBAL POLICY("\"fsProfiles\":{\"mine\":{\"read\":[\"./**\"]}}")
#define WORKSPACE POLICY("\"denyRead\":[\"a\"]")

static struct caller_context *make_context(const char *root) {
    struct caller_context *caller_context = calloc(1, sizeof *caller_context);
    assert_non_null(caller_context);
    caller_context->context = (struct bs_backend_context)BS_BACKEND_CONTEXT_INIT;
    caller_context->context.root = block(caller_context, root);
    caller_context->context.cwd = block(caller_context, root);
    caller_context->context.launcher = block(caller_context, "/the/launcher");
    caller_context->egress[0] = block(caller_context, "a.example:1");
    caller_context->egress[1] = block(caller_context, "b.example:2");
    caller_context->context.egress = caller_context->egress;
    caller_context->context.n_egress = 2;
    caller_context->readable[0] = block(caller_context, "/readable");
    caller_context->context.readable = caller_context->readable;
    caller_context->context.n_readable = 1;
    caller_context->policy.profile = block(caller_context, "mine");
    caller_context->policy.global =
        (struct bs_policy_text){block(caller_context, GLOBAL), sizeof GLOBAL - 1, BS_POLICY_JSON};
    caller_context->policy.workspace = (struct bs_policy_text){
        block(caller_context, WORKSPACE), sizeof WORKSPACE - 1, BS_POLICY_JSON};
    caller_context->policy.has_workspace = true;
    caller_context->context.policy = &caller_context->policy;
    return caller_context;
}

/* Overwrite the caller's memory before freeing it. A late use is then noticed even without a
 * sanitizer. */
static void take_back(struct caller_context *caller_context) {
    for (size_t i = 0; i < caller_context->n; i++) {
        memset(caller_context->blocks[i], '!', strlen(caller_context->blocks[i]));
        free(caller_context->blocks[i]);
    }
    memset(caller_context, 0, sizeof *caller_context);
    free(caller_context);
}

static void make_pipes(struct blocked_call *blocked_call) {
    for (int i = 0; i < PIPES; i++)
        assert_int_equal(pipe2(blocked_call->pipes[i], O_CLOEXEC), 0);
}

/* Let the call continue, and compare everything that it reports. */
static void assert_it_saw(struct blocked_call *blocked_call, const char *root) {
    char expected[1024];
    char said[1024];
    size_t len = 0;
    ssize_t n = 0;
    const char *const texts[] = {root,   root,  "b.example:2", "/readable", "/the/launcher",
                                 "mine", "mine"};
    size_t wanted = 0;
    for (size_t i = 0; i < LENGTH(texts); i++) {
        (void)memcpy(expected + wanted, texts[i], strlen(texts[i]) + 1);
        wanted += strlen(texts[i]) + 1;
    }
    (void)memcpy(expected + wanted, GLOBAL WORKSPACE, sizeof GLOBAL WORKSPACE - 1);
    wanted += sizeof GLOBAL WORKSPACE - 1;
    (void)!write(blocked_call->pipes[GO][1], "g", 1);
    while (len < sizeof said &&
           (n = read(blocked_call->pipes[SAID][0], said + len, sizeof said - len)) > 0)
        len += (size_t)n;
    for (int i = 0; i < PIPES; i++) {
        bs_close(&blocked_call->pipes[i][0]);
        if (i != SAID)
            bs_close(&blocked_call->pipes[i][1]);
    }
    assert_int_equal(len, wanted);
    assert_memory_equal(said, expected, wanted);
}

/* The call still runs after the session has been closed and all memory of the caller has been
 * freed. */
static void a_call_that_timed_out_keeps_its_context(void **state) {
    struct folder *folder = *state;
    char *root = realpath(folder->path, NULL);
    for (int probes = 0; probes < 2; probes++) {
        static struct blocked_call deafs[2];
        struct blocked_call *blocked_call = &deafs[probes];
        struct bs_backend *backend = malloc(sizeof *backend);
        struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
        struct bs_error err = BS_ERROR_INIT;
        struct bs_session *session = NULL;
        char called = 0;
        assert_non_null(backend);
        make_pipes(blocked_call);
        blocked_call->probes = probes == 1;
        *backend = (struct bs_backend){.name = "deaf",
                                       .mechanism = "none",
                                       .ctx = blocked_call,
                                       .probe = probe,
                                       .prepare = prepare,
                                       .shutdown = shut_down};
        struct caller_context *caller_context = make_context(root);
        int code = bs_session_open(backend, &caller_context->context, BS_REFUSE, NULL, &session,
                                   &report, &err);
        bs_backend_report_clear(&report);
        take_back(caller_context);
        memset(backend, 0, sizeof *backend);
        free(backend);
        assert_int_equal(code, BS_E_DENIED);
        assert_non_null(strstr(err.message, "did not return, even after it was cancelled"));
        assert_int_equal(read(blocked_call->pipes[CALL][0], &called, 1), 1);
        assert_it_saw(blocked_call, root);
    }
    free(root);
}

static void a_single_probe_that_timed_out_keeps_its_context(void **state) {
    static struct blocked_call blocked_call;
    struct folder *folder = *state;
    struct bs_backend backend = {.name = "deaf", .ctx = &blocked_call, .probe = probe};
    struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
    make_pipes(&blocked_call);
    blocked_call.probes = true;
    struct caller_context *caller_context = make_context(folder->path);
    int code = bs_backend_probe(&backend, &caller_context->context, -1, &report, NULL);
    bs_backend_report_clear(&report);
    take_back(caller_context);
    assert_int_equal(code, BS_E_EXECUTION);
    assert_it_saw(&blocked_call, folder->path);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_call_that_timed_out_keeps_its_context),
        IN_FOLDER(a_single_probe_that_timed_out_keeps_its_context),
    };
    return cmocka_run_group_tests_name("backend/timed_call", tests, NULL, NULL);
}
