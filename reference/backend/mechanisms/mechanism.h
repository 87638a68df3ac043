/* The backends of this library: Landlock and bubblewrap, each with and without a seccomp filter.
 * All of them write a plan for the launcher. */
#ifndef BS_BACKEND_MECHANISMS_MECHANISM_H
#define BS_BACKEND_MECHANISMS_MECHANISM_H

#include <boxspec/backend.h>
#include <boxspec/profile.h>

#include "backend/plan/rules.h"

struct bs_mechanism {
    bool namespaces; /* bubblewrap; otherwise Landlock */
    bool filtered;   /* with seccomp */
};

/* The functions of struct bs_backend (boxspec/backend.h); ctx is a struct bs_mechanism. */
int bs_mechanism_probe(void *ctx, const struct bs_backend_context *context, int cancel,
                       struct bs_backend_report *report, struct bs_error *err);
int bs_mechanism_prepare(void *ctx, const struct bs_backend_context *context, int cancel,
                         void **made, struct bs_backend_report *report, struct bs_error *err);
int bs_mechanism_wrap(void *ctx, void *made, const struct bs_exec_request *request, const char *cwd,
                      struct bs_wrapped *out, struct bs_error *err);
void bs_mechanism_unwrap(void *ctx, void *made, struct bs_wrapped *wrapped);
int bs_mechanism_scan(void *ctx, void *made, struct bs_backend_report *report,
                      struct bs_error *err);
int bs_mechanism_shutdown(void *ctx, void *made, struct bs_error *err);

/* As bs_mechanism_prepare. `also_writable` is a directory that programs of another session may
 * write to, or NULL: no file that the launcher trusts is made there. */
int bs_mechanism_prepare_with(const struct bs_mechanism *mechanism,
                              const struct bs_backend_context *context, const char *also_writable,
                              int cancel, void **made, struct bs_backend_report *report,
                              struct bs_error *err);

/* Returns BS_E_INVALID for a context with a policy that is not compiled, as of a caller that uses
 * these functions without a session. Otherwise the policy would silently be ignored. */
int bs_mechanism_check_profile(const struct bs_backend_context *context, struct bs_error *err);

/* Lowers the claims for rules that are not enforced. False: out of memory. */
bool bs_mechanism_claim_unenforced(const struct bs_mechanism *mechanism,
                                   const struct bs_unenforced_rules *unenforced,
                                   struct bs_backend_report *report);

/* The positive control of a probe: starts a program inside. Returns 0 if it could write where it
 * may, and nowhere else; otherwise a negative code. */
int bs_mechanism_control(const struct bs_mechanism *mechanism,
                         const struct bs_backend_context *context, int cancel,
                         struct bs_error *err);

#endif
