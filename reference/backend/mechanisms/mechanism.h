/* The backends of this library: Landlock and bubblewrap, each with and without a seccomp filter.
 * All of them write a plan for the launcher. */
#ifndef BS_BACKEND_MECHANISMS_MECHANISM_H
#define BS_BACKEND_MECHANISMS_MECHANISM_H

#include <boxspec/backend.h>
#include <boxspec/profile.h>

#include "backend/plan/rules.h"

struct bs_mechanism {
    bool namespaces; /* true for bubblewrap, false for Landlock */
    bool filtered;   /* with a seccomp filter */
};

/* The functions of struct bs_backend (boxspec/backend.h). Their ctx is a struct bs_mechanism. */
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

/* As bs_mechanism_prepare. If `also_writable` is not NULL, programs of another session may write to
 * this directory. So no file that the launcher trusts is made in it. */
int bs_mechanism_prepare_with(const struct bs_mechanism *mechanism,
                              const struct bs_backend_context *context, const char *also_writable,
                              int cancel, void **made, struct bs_backend_report *report,
                              struct bs_error *err);

/* Return BS_E_INVALID if the context has a policy that is not compiled. A program that calls the
 * mechanism without a session may pass such a context, and its policy would be ignored silently. */
int bs_mechanism_check_profile(const struct bs_backend_context *context, struct bs_error *err);

/* Lower the claims because of rules that are not enforced. Returns false if memory ran out. */
bool bs_mechanism_claim_unenforced(const struct bs_mechanism *mechanism,
                                   const struct bs_unenforced_rules *unenforced,
                                   struct bs_backend_report *report);

/* Start a program in the sandbox, to see that the backend works. Returns 0 if the program could
 * write where it may and nowhere else; otherwise a negative code. */
int bs_mechanism_control(const struct bs_mechanism *mechanism,
                         const struct bs_backend_context *context, int cancel,
                         struct bs_error *err);

#endif
