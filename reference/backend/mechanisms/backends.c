#include <string.h>

#include "backend/mechanisms/mechanism.h"
#include "backend/plan/profile.h"
#include "backend/session/report.h"
#include "base/error.h"

static int none_probe(void *ctx, const struct bs_backend_context *context, int cancel,
                      struct bs_backend_report *report, struct bs_error *err) {
    (void)ctx;
    (void)cancel;
    bool reads = bs_profile_denies(context->profile, BS_OP_READ);
    bool good =
        bs_report_unavailable(report, context, reads, "the backend `none` confines nothing");
    bs_report_conclude(report, context, reads);
    return good ? BS_OK : bs_fail(err, BS_E_EXECUTION, 0, "out of memory for a report");
}

static int none_prepare(void *ctx, const struct bs_backend_context *context, int cancel,
                        void **state, struct bs_backend_report *report, struct bs_error *err) {
    (void)ctx;
    (void)context;
    (void)cancel;
    (void)state;
    (void)report;
    return bs_fail(err, BS_E_EXECUTION, 0, "the backend `none` confines nothing");
}

static int none_wrap(void *ctx, void *state, const struct bs_exec_request *request, const char *cwd,
                     struct bs_wrapped *out, struct bs_error *err) {
    (void)ctx;
    (void)state;
    (void)request;
    (void)cwd;
    (void)out;
    return bs_fail(err, BS_E_EXECUTION, 0, "the backend `none` confines nothing");
}

static struct bs_mechanism mechanisms[] = {
    {false, false}, {false, true}, {true, false}, {true, true}};

#define MECHANISM(name, mechanism, which)                                                          \
    {                                                                                              \
        name, mechanism, &mechanisms[which], bs_mechanism_probe, bs_mechanism_prepare,             \
            bs_mechanism_wrap, bs_mechanism_unwrap, bs_mechanism_scan, bs_mechanism_shutdown       \
    }

static const struct bs_backend backends[] = {
    {"none", "none", NULL, none_probe, none_prepare, none_wrap, NULL, NULL, NULL},
    MECHANISM("landlock", "landlock", 0),
    MECHANISM("landlock+seccomp", "landlock+seccomp", 1),
    MECHANISM("bubblewrap", "namespaces", 2),
    MECHANISM("bubblewrap+seccomp", "namespaces+seccomp", 3),
};

const struct bs_backend *bs_backend_at(size_t index) {
    return index < sizeof backends / sizeof *backends ? &backends[index] : NULL;
}

const struct bs_backend *bs_backend_find(const char *name) {
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        if (strcmp(backends[i].name, name) == 0)
            return &backends[i];
    }
    return NULL;
}
