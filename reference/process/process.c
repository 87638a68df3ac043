#define _GNU_SOURCE
#include <boxspec/process.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/sys.h"
#include "exec/admit.h"
#include "exec/group.h"
#include "exec/launched.h"
#include "process/handle.h"
#include "process/start.h"

static bool is_mode(enum bs_stdio_mode mode) {
    return mode == BS_STDIO_INHERIT || mode == BS_STDIO_PIPED || mode == BS_STDIO_NULL;
}

static int check(const struct bs_exec_request *request, const struct bs_stdio *stdio,
                 struct bs_error *err) {
    if (!is_mode(stdio->in) || !is_mode(stdio->out) || !is_mode(stdio->err))
        return bs_fail(err, BS_E_INVALID, 0,
                       "a stream is neither inherited (0), piped (1) nor null (2)");
    if (request->timeout_ms != NULL || request->stdin_mode != BS_STDIN_INHERIT || request->debug ||
        request->max_output_bytes != NULL || request->cancel_fd != NULL ||
        request->on_output != NULL || request->sandbox != NULL)
        return bs_fail(err, BS_E_INVALID, 0,
                       "`open` takes program, args, current_dir and env; exec.run takes the rest");
    return BS_OK;
}

static enum bs_connection connection_of(enum bs_stdio_mode mode) {
    static const enum bs_connection connections[] = {[BS_STDIO_INHERIT] = BS_CONNECT_INHERIT,
                                                     [BS_STDIO_PIPED] = BS_CONNECT_PIPE,
                                                     [BS_STDIO_NULL] = BS_CONNECT_NULL};
    return connections[mode];
}

/* Start the program and make its handle. */
static int open_handle(const struct bs_exec_request *request, const struct bs_wrapped *wrapped,
                       const struct bs_stdio *stdio, int announce, struct bs_process **process,
                       struct bs_error *err) {
    const struct bs_connections connections = {connection_of(stdio->in), connection_of(stdio->out),
                                               connection_of(stdio->err), stdio->nonblocking,
                                               announce};
    struct bs_process *made = calloc(1, sizeof *made);
    struct bs_child child;
    if (made == NULL)
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory");
    int code = bs_spawn(request, wrapped, &connections, &child, err);
    if (code != BS_OK) {
        free(made);
        return code;
    }
    made->pid = child.pid;
    made->watch = child.watch;
    made->terminal = child.terminal;
    made->streams[0] = child.in;
    made->streams[1] = child.out;
    made->streams[2] = child.err;
    made->report = child.report;
    (void)pthread_mutex_init(&made->lock, NULL);
    (void)pthread_cond_init(&made->call_ended, NULL);
    if (made->report >= 0)
        code = bs_launched_await(request, made->report, err);
    if (code == BS_OK)
        *process = made;
    else
        bs_process_drop(made);
    return code;
}

int bs_process_start(const struct bs_exec_request *request, const struct bs_stdio *stdio,
                     const struct bs_sandbox *sandbox, int announce, struct bs_process **process,
                     struct bs_error *err) {
    *process = NULL;
    int code = check(request, stdio, err);
    if (code != BS_OK)
        return code;
    struct bs_exec_request run_request = *request;
    struct bs_wrapped wrapped = {0};
    bool is_wrapped = false;
    run_request.sandbox = sandbox;
    /* With BS_STDIN_BYTES the sandbox knows that only the program reads this stdin. */
    if (stdio->in != BS_STDIO_INHERIT)
        run_request.stdin_mode = BS_STDIN_BYTES;
    code = bs_admit(&run_request, &wrapped, &is_wrapped, err);
    if (code == BS_OK)
        code = bs_check_sigchld(err);
    if (code == BS_OK)
        code =
            open_handle(&run_request, is_wrapped ? &wrapped : NULL, stdio, announce, process, err);
    bs_release(&run_request, &wrapped, &is_wrapped);
    return code;
}

int bs_process_open(const struct bs_exec_request *request, const struct bs_stdio *stdio,
                    const struct bs_sandbox *sandbox, struct bs_process **process,
                    struct bs_error *err) {
    return bs_process_start(request, stdio, sandbox, -1, process, err);
}

pid_t bs_process_pid(const struct bs_process *process) { return process->pid; }

int bs_process_stream(struct bs_process *process, int stream) {
    bs_process_begin_call(process);
    int fd = process->streams[stream];
    bs_process_end_call(process);
    return fd;
}

int bs_process_take(struct bs_process *process, int stream) {
    bs_process_begin_call(process);
    int fd = process->streams[stream];
    process->streams[stream] = -1;
    bs_process_end_call(process);
    return fd;
}

void bs_process_close_stream(struct bs_process *process, int stream) {
    bs_process_begin_call(process);
    bs_close(&process->streams[stream]);
    bs_process_end_call(process);
}

int bs_process_wait(struct bs_process *process, const uint64_t *timeout_ms,
                    struct bs_process_end *end, struct bs_error *err) {
    bs_process_begin_call(process);
    /* Without a limit, stdin is closed. A child that reads until the end of its stdin would never
     * end, because the caller is blocked here and cannot close it. */
    if (timeout_ms == NULL)
        bs_close(&process->streams[0]);
    uint64_t limit_ms = timeout_ms != NULL ? *timeout_ms : BS_NEVER;
    if (limit_ms == 0) /* takes one step and never blocks, even if killed members are still dying */
        (void)bs_process_step_to_end(process, false);
    else
        bs_process_await_end(process,
                             limit_ms == BS_NEVER ? BS_NEVER : bs_after_ms(bs_now_ns(), limit_ms));
    int code = bs_process_report_end(process, end, err);
    bs_process_end_call(process);
    return code;
}

static int send_signal(struct bs_process *process, int signo, struct bs_error *err) {
    char buf[128];
    int code = BS_OK;
    bs_process_begin_call(process);
    /* Once the leader is reaped, no signal is sent, because its number may be assigned again. */
    bool may_signal = !bs_process_is_over(process) && process->group_end.phase != BS_GROUP_REAPED;
    if (may_signal && !bs_group_signal(process->pid, signo))
        code = bs_fail(err, BS_E_EXECUTION, errno, "cannot send signal %d: %s", signo,
                       bs_os_message(errno, buf, sizeof buf));
    bs_process_end_call(process);
    return code;
}

int bs_process_terminate(struct bs_process *process, struct bs_error *err) {
    return send_signal(process, SIGTERM, err);
}

int bs_process_kill(struct bs_process *process, struct bs_error *err) {
    return send_signal(process, SIGKILL, err);
}

/* True if a process that left the group still has the other end open. */
static bool has_writer(int fd) {
    struct pollfd entry = {.fd = fd, .events = POLLIN};
    return fd >= 0 && BS_RETRY(poll(&entry, 1, 0)) >= 0 && (entry.revents & POLLHUP) == 0;
}

int bs_process_close(struct bs_process *process, uint64_t grace_ms, struct bs_process_end *end,
                     bool *detached_writers, struct bs_error *err) {
    bs_process_begin_call(process);
    bs_process_set_grace(process, grace_ms);
    bs_process_await_ended_group(process);
    for (int stream = 0; stream < 3; stream++) {
        if (stream > 0 && has_writer(process->streams[stream]))
            process->detached_writers = true;
        bs_close(&process->streams[stream]);
    }
    if (detached_writers != NULL)
        *detached_writers = process->detached_writers;
    int code = bs_process_report_end(process, end, err);
    bs_process_end_call(process);
    return code;
}

void bs_process_drop(struct bs_process *process) {
    if (process == NULL)
        return;
    bs_process_begin_call(process);
    if (!bs_process_is_over(process)) {
        /* Do not signal once the leader is reaped: its number may be assigned again. */
        if (process->group_end.phase != BS_GROUP_REAPED)
            bs_group_end_kill(&process->group_end, process->pid, bs_now_ns());
        bs_process_await_ended_group(process);
    }
    while (process->calls > 1)
        (void)pthread_cond_wait(&process->call_ended, &process->lock);
    for (int stream = 0; stream < 3; stream++)
        bs_close(&process->streams[stream]);
    bs_close(&process->report);
    bs_terminal_take_back(&process->terminal);
    (void)pthread_mutex_unlock(&process->lock);
    bs_watch_close(&process->watch);
    (void)pthread_cond_destroy(&process->call_ended);
    (void)pthread_mutex_destroy(&process->lock);
    free(process);
}
