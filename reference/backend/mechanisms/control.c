/* Runs a test program to see that the backend works. The program writes where it may write, and
 * tries to write to a file outside. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "backend/mechanisms/mechanism.h"
#include "backend/session/private_dir.h"
#include "backend/session/wrap.h"
#include "base/error.h"

/* The launcher kills the test program after this time. */
enum { CONTROL_MS = 4000 };

/* The script does not check whether the write outside succeeds, because the write may succeed in a
 * private mount. The test fails if the file exists outside afterwards. */
static const char script[] = "cd \"$1\" || exit 3\n"
                             "if [ \"$2\" = rw ]; then (: >inside) || exit 4; fi\n"
                             "(: >\"$TMPDIR/scratch\") || exit 5\n"
                             "(: >\"$3\") 2>/dev/null\n"
                             "exit 0\n";

/* Return an error if the path exists. A path that cannot be examined is an error too, because it
 * may exist. */
static int assert_absent(const char *path, struct bs_error *err) {
    struct stat st;
    char buf[128];
    if (lstat(path, &st) == 0)
        return bs_fail(err, BS_E_EXECUTION, 0, "a program inside wrote to a file outside");
    return errno == ENOENT
               ? BS_OK
               : bs_fail(err, BS_E_EXECUTION, errno,
                         "cannot check whether a program inside wrote to a file outside: %s",
                         bs_os_message(errno, buf, sizeof buf));
}

struct control {
    struct bs_private_dir dir;
    char *root; /* the workspace of the test program */
    char *outside;
};

static int run_control(const struct bs_mechanism *mechanism, const struct control *control,
                       const struct bs_backend_context *context, int cancel, struct bs_error *err) {
    struct bs_backend_context inner = *context;
    struct bs_backend_report ignored = BS_BACKEND_REPORT_INIT;
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_wrapped wrapped = {.argv = NULL};
    void *state = NULL;
    bool writes = context->confine != BS_CONFINE_READ_ONLY;
    const char *const args[] = {
        "-c", script, "boxspec", control->root, writes ? "rw" : "ro", control->outside};
    uint64_t timeout_ms = CONTROL_MS;
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    inner.root = control->root;
    inner.cwd = NULL;
    inner.policy = NULL;
    inner.profile = NULL;
    /* Put nothing into the root of the probed context, because programs of another session may
     * write to it. */
    int code =
        bs_mechanism_prepare_with(mechanism, &inner, context->root, cancel, &state, &ignored, err);
    request.program = "/bin/sh";
    request.args = args;
    request.n_args = sizeof args / sizeof *args;
    request.stdin_mode = BS_STDIN_NULL;
    request.env_mode = BS_ENV_CLEAR_AND_SET;
    request.timeout_ms = &timeout_ms;
    request.cancel_fd = cancel >= 0 ? &cancel : NULL;
    if (code == BS_OK)
        code = bs_mechanism_wrap((void *)(uintptr_t)mechanism, state, &request, control->root,
                                 &wrapped, err);
    if (code == BS_OK) {
        code = bs_wrapped_run(&wrapped, &request, &result, err);
        bs_mechanism_unwrap(NULL, state, &wrapped);
    }
    if (code == BS_OK && !result.success)
        code = bs_fail(err, BS_E_EXECUTION, 0, "the positive control %s: %.300s",
                       result.termination == BS_ENDED_TIMEOUT ? "did not end in time" : "failed",
                       result.err.len > 0 ? result.err.data : "no message");
    if (code == BS_OK)
        code = assert_absent(control->outside, err);
    bs_exec_result_clear(&result);
    bs_backend_report_clear(&ignored);
    (void)bs_mechanism_shutdown(NULL, state, NULL);
    return code;
}

int bs_mechanism_control(const struct bs_mechanism *mechanism,
                         const struct bs_backend_context *context, int cancel,
                         struct bs_error *err) {
    struct control control = {BS_PRIVATE_DIR_INIT, NULL, NULL};
    int code = bs_private_dir_make(context, NULL, &control.dir, err);
    if (code == BS_OK && (asprintf(&control.root, "%s/ws", control.dir.path) < 0 ||
                          asprintf(&control.outside, "%s/outside", control.dir.path) < 0))
        code = bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a sandbox");
    if (code == BS_OK)
        code = bs_private_dir_add_dir(control.dir.path, "ws", 0700, err);
    if (code == BS_OK)
        code = run_control(mechanism, &control, context, cancel, err);
    free(control.root);
    free(control.outside);
    (void)bs_private_dir_remove(&control.dir, NULL);
    return code;
}
