#define _GNU_SOURCE
#include "support/opening.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void ignore_output(void *ctx, enum bs_stream stream, const char *data, size_t len) {
    (void)ctx;
    (void)stream;
    (void)data;
    (void)len;
}

/* Set a field that bs_exec_run uses and bs_process_open must refuse. */
static void make_foreign(struct bs_exec_request *request, unsigned variant) {
    static const uint64_t number = 1000;
    static const int descriptor = 0;
    static const struct bs_sandbox none = {NULL, NULL, NULL, NULL};
    switch (variant % 7) {
    case 0:
        request->timeout_ms = &number;
        break;
    case 1:
        request->stdin_mode = BS_STDIN_NULL;
        break;
    case 2:
        request->debug = true;
        break;
    case 3:
        request->max_output_bytes = &number;
        break;
    case 4:
        request->cancel_fd = &descriptor;
        break;
    case 5:
        request->on_output = ignore_output;
        break;
    default:
        request->sandbox = &none;
        break;
    }
}

static int refuse(void *ctx, const struct bs_exec_request *request, struct bs_error *err) {
    (void)ctx;
    (void)request;
    (void)snprintf(err->message, sizeof err->message, "refused");
    return BS_E_DENIED;
}

/* Wrap the request into a launcher that is a shell. The shell either writes nothing and starts the
 * program, or writes one complete failure record. */
static int launch(void *ctx, const struct bs_exec_request *request, struct bs_wrapped *out,
                  struct bs_error *err) {
    static char fails[80];
    static const char *starting[] = {"/bin/sh", "-c", "exec 3>&-; exec cat", NULL};
    static const char *failing[] = {"/bin/sh", "-c", fails, NULL};
    const struct bs_opening *opening = ctx;
    (void)request;
    (void)err;
    (void)snprintf(fails, sizeof fails, "head -c %zu /dev/zero >&3; exec cat",
                   sizeof(struct bs_launch_failure));
    *out = (struct bs_wrapped){.argv = opening->kind == BS_OPENING_FAILED ? failing : starting,
                               .is_launcher = true};
    return BS_OK;
}

static void describe(const struct bs_opening *opening, struct bs_exec_request *request,
                     struct bs_stdio *stdio) {
    /* A shell that starts a second process of the group before it becomes `cat`. The second process
     * holds none of the streams. */
    static const char *const member[] = {"-c", "sleep 60 <&- >&- 2>&- & exec cat"};
    static const char *const stubborn[] = {
        "-c", "trap '' TERM; sleep 60 <&- >&- 2>&- & trap - TERM; exec cat"};
    static const enum bs_stdio_mode modes[] = {BS_STDIO_NULL, BS_STDIO_PIPED, BS_STDIO_INHERIT};
    *stdio = (struct bs_stdio){BS_STDIO_PIPED, BS_STDIO_PIPED, modes[opening->variant % 3], false};
    request->program = opening->kind == BS_OPENING_NOT_THERE ? "/no/such/program" : "/bin/cat";
    if (opening->kind == BS_OPENING_MEMBER || opening->kind == BS_OPENING_STUBBORN) {
        request->program = "/bin/sh";
        request->args = opening->kind == BS_OPENING_MEMBER ? member : stubborn;
        request->n_args = 2;
    }
    if (opening->kind == BS_OPENING_NO_MODE) {
        enum bs_stdio_mode *const streams[] = {&stdio->in, &stdio->out, &stdio->err};
        *streams[opening->variant % 3] = (enum bs_stdio_mode)(3 + opening->variant);
    }
    if (opening->kind == BS_OPENING_FOREIGN)
        make_foreign(request, opening->variant);
}

int bs_opening_code(enum bs_opening_kind kind) {
    if (kind == BS_OPENING_NO_MODE || kind == BS_OPENING_FOREIGN)
        return BS_E_INVALID;
    if (kind == BS_OPENING_REFUSED)
        return BS_E_DENIED;
    return kind < BS_OPENING_NOT_THERE || kind == BS_OPENING_SQUEEZED ? BS_OK : BS_E_EXECUTION;
}

struct rlimit bs_opening_squeeze(unsigned free) {
    struct rlimit before;
    int lowest = dup(STDIN_FILENO);
    (void)getrlimit(RLIMIT_NOFILE, &before);
    if (lowest >= 0) {
        const struct rlimit less = {(rlim_t)lowest + free, before.rlim_max};
        (void)close(lowest);
        (void)setrlimit(RLIMIT_NOFILE, &less);
    }
    return before;
}

int bs_opening_try(struct bs_opening *opening, struct bs_process **process, struct bs_error *err) {
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    struct bs_stdio stdio;
    const struct bs_sandbox sandbox = {opening, opening->kind == BS_OPENING_REFUSED ? refuse : NULL,
                                       launch, NULL};
    bool is_inside = opening->kind == BS_OPENING_REFUSED || opening->kind == BS_OPENING_FAILED ||
                     opening->kind == BS_OPENING_LAUNCHED;
    struct rlimit before = {0, 0};
    describe(opening, &request, &stdio);
    if (opening->kind == BS_OPENING_COLLECTED)
        (void)signal(SIGCHLD, SIG_IGN);
    if (opening->kind == BS_OPENING_SQUEEZED)
        before = bs_opening_squeeze(opening->variant);
    int code = bs_process_open(&request, &stdio, is_inside ? &sandbox : NULL, process, err);
    if (opening->kind == BS_OPENING_SQUEEZED)
        (void)setrlimit(RLIMIT_NOFILE, &before);
    (void)signal(SIGCHLD, SIG_DFL);
    return code;
}
