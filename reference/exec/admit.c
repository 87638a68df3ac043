#define _GNU_SOURCE
#include "exec/admit.h"

#include <errno.h>
#include <signal.h>

#include "base/error.h"

int bs_admit(const struct bs_exec_request *request, struct bs_wrapped *wrapped, bool *is_wrapped,
             struct bs_error *err) {
    const struct bs_sandbox *sandbox = request->sandbox;
    *is_wrapped = false;
    if (request->program == NULL)
        return bs_fail(err, BS_E_INVALID, 0, "the request names no program");
    if (request->cancel_fd != NULL && *request->cancel_fd < 0)
        return bs_fail(
            err, BS_E_INVALID, 0,
            "cancel_fd: %d is not a descriptor; name an open one, or leave NULL for none",
            *request->cancel_fd);
    if (sandbox == NULL)
        return BS_OK;
    int code = sandbox->validate != NULL ? sandbox->validate(sandbox->ctx, request, err) : BS_OK;
    if (code != BS_OK || sandbox->wrap == NULL)
        return code;
    code = sandbox->wrap(sandbox->ctx, request, wrapped, err);
    *is_wrapped = code == BS_OK;
    /* An empty command must not lead to a run without the sandbox. */
    if (code == BS_OK && (wrapped->argv == NULL || wrapped->argv[0] == NULL)) {
        code = bs_fail(err, BS_E_EXECUTION, 0, "the sandbox wrapped `%.900s` into an empty command",
                       request->program);
        bs_release(request, wrapped, is_wrapped);
    }
    return code;
}

void bs_release(const struct bs_exec_request *request, struct bs_wrapped *wrapped,
                bool *is_wrapped) {
    if (*is_wrapped && request->sandbox->unwrap != NULL)
        request->sandbox->unwrap(request->sandbox->ctx, wrapped);
    *is_wrapped = false;
}

int bs_check_sigchld(struct bs_error *err) {
    struct sigaction action;
    if (sigaction(SIGCHLD, NULL, &action) != 0)
        return BS_OK;
    if (action.sa_handler != SIG_IGN && (action.sa_flags & SA_NOCLDWAIT) == 0)
        return BS_OK;
    char buf[128];
    return bs_fail(err, BS_E_EXECUTION, ECHILD,
                   "wait timeout error: %s: the calling process ignores SIGCHLD or set "
                   "SA_NOCLDWAIT; restore the default before a run",
                   bs_os_message(ECHILD, buf, sizeof buf));
}
