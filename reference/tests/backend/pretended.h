/* A backend that confines nothing and records its calls, to test code that calls backends. */
#ifndef BS_TESTS_BACKEND_PRETENDED_H
#define BS_TESTS_BACKEND_PRETENDED_H

#include <boxspec/backend.h>

#include <stdio.h>
#include <string.h>

#include "support/harness.h"

struct pretended {
    enum bs_claim claim;     /* the claim that its probe reports */
    const char *const *argv; /* the command that its wrap returns */
    int wrap_code;
    int shutdown_code;
    unsigned prepared;
    unsigned wrapped;
    unsigned unwrapped;
    unsigned shut_down;
    char root[128]; /* the root passed to prepare */
    char readable[128];
    char cwd[128]; /* the working directory passed to wrap */
    struct bs_env_pair env;
};

static inline int pretended_probe(void *ctx, const struct bs_backend_context *context, int cancel,
                                  struct bs_backend_report *report, struct bs_error *err) {
    const struct pretended *pretended = ctx;
    bool good = true;
    (void)cancel;
    (void)err;
    for (int i = 0; good && i < BS_ASPECTS; i++) {
        enum bs_aspect aspect = (enum bs_aspect)i;
        if (!bs_context_requests(context, aspect, false))
            continue;
        good = pretended->claim == BS_CLAIM_FULLY
                   ? bs_report_claim(report, aspect, BS_CLAIM_FULLY)
                   : bs_report_reason(report, aspect, pretended->claim, "it only pretends");
    }
    bs_report_conclude(report, context, false);
    return good ? BS_OK : BS_E_EXECUTION;
}

static inline int pretended_prepare(void *ctx, const struct bs_backend_context *context, int cancel,
                                    void **state, struct bs_backend_report *report,
                                    struct bs_error *err) {
    struct pretended *pretended = ctx;
    (void)cancel;
    (void)report;
    (void)err;
    pretended->prepared++;
    (void)snprintf(pretended->root, sizeof pretended->root, "%s", context->root);
    if (context->n_readable > 0)
        (void)snprintf(pretended->readable, sizeof pretended->readable, "%s", context->readable[0]);
    *state = pretended;
    return BS_OK;
}

static inline int pretended_wrap(void *ctx, void *state, const struct bs_exec_request *request,
                                 const char *cwd, struct bs_wrapped *out, struct bs_error *err) {
    struct pretended *pretended = ctx;
    (void)request;
    assert_ptr_equal(state, pretended);
    pretended->wrapped++;
    (void)snprintf(pretended->cwd, sizeof pretended->cwd, "%s", cwd);
    if (pretended->wrap_code != BS_OK) {
        (void)snprintf(err->message, sizeof err->message, "it pretends to fail");
        return pretended->wrap_code;
    }
    *out = (struct bs_wrapped){.argv = pretended->argv};
    if (pretended->env.name != NULL) {
        out->env = &pretended->env;
        out->n_env = 1;
    }
    return BS_OK;
}

static inline void pretended_unwrap(void *ctx, void *state, struct bs_wrapped *wrapped) {
    struct pretended *pretended = ctx;
    (void)state;
    (void)wrapped;
    pretended->unwrapped++;
}

static inline int pretended_shutdown(void *ctx, void *state, struct bs_error *err) {
    struct pretended *pretended = ctx;
    assert_ptr_equal(state, pretended);
    pretended->shut_down++;
    if (pretended->shutdown_code != BS_OK)
        (void)snprintf(err->message, sizeof err->message, "it pretends to stay");
    return pretended->shutdown_code;
}

static inline struct bs_backend pretended_backend(struct pretended *pretended) {
    return (struct bs_backend){.name = "pretended",
                               .mechanism = "none",
                               .ctx = pretended,
                               .probe = pretended_probe,
                               .prepare = pretended_prepare,
                               .wrap = pretended_wrap,
                               .unwrap = pretended_unwrap,
                               .shutdown = pretended_shutdown};
}

#endif
