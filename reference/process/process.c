#define _GNU_SOURCE
#include <boxspec/process.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sys.h"
#include "exec/admit.h"
#include "exec/group.h"
#include "exec/group_end.h"
#include "exec/launched.h"
#include "exec/spawn.h"
#include "process/start.h"

struct bs_process {
    pid_t pid;
    struct bs_watch watch; /* until the drop: a wait may be polling it */
    struct bs_terminal terminal;
    int stopped_by;       /* SIGTTIN or SIGTTOU that stopped the program for good; else 0 */
    pthread_mutex_t lock; /* before everything below */
    pthread_cond_t left;  /* a call has left */
    unsigned calls;       /* under way */
    int ours[3];          /* our ends; -1 once taken or closed */
    int report;           /* of a launcher, until the drop: it ends when that closes; else -1 */
    bool leader_ended;    /* the rest of the group is being ended */
    struct bs_group_end group_end;
    struct bs_process_end leader_end; /* what `end` becomes with the end of the group */
    bool reaped;
    int lost_error; /* errno: the child was collected by somebody else; 0 while all is well */
    struct bs_process_end end;
    bool detached_writers;
};

static void enter(struct bs_process *process) {
    (void)pthread_mutex_lock(&process->lock);
    process->calls++;
}

static void leave(struct bs_process *process) {
    process->calls--;
    (void)pthread_cond_broadcast(&process->left);
    (void)pthread_mutex_unlock(&process->lock);
}

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
                       "a process takes program, args, current_dir and env; the rest is for runs");
    return BS_OK;
}

static enum bs_plug plug_of(enum bs_stdio_mode mode) {
    static const enum bs_plug plugs[] = {[BS_STDIO_INHERIT] = BS_PLUG_INHERIT,
                                         [BS_STDIO_PIPED] = BS_PLUG_PIPE,
                                         [BS_STDIO_NULL] = BS_PLUG_NULL};
    return plugs[mode];
}

/* The handle, once the program is there. */
static int spawn(const struct bs_exec_request *request, const struct bs_wrapped *wrapped,
                 const struct bs_stdio *stdio, int announce, struct bs_process **process,
                 struct bs_error *err) {
    const struct bs_plugs plugs = {plug_of(stdio->in), plug_of(stdio->out), plug_of(stdio->err),
                                   stdio->nonblocking, announce};
    struct bs_process *made = calloc(1, sizeof *made);
    struct bs_child child;
    if (made == NULL)
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory");
    int code = bs_spawn(request, wrapped, &plugs, &child, err);
    if (code != BS_OK) {
        free(made);
        return code;
    }
    made->pid = child.pid;
    made->watch = child.watch;
    made->terminal = child.terminal;
    made->ours[0] = child.in;
    made->ours[1] = child.out;
    made->ours[2] = child.err;
    made->report = child.report;
    (void)pthread_mutex_init(&made->lock, NULL);
    (void)pthread_cond_init(&made->left, NULL);
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
    struct bs_exec_request asked = *request;
    struct bs_wrapped wrapped = {0};
    bool is_wrapped = false;
    asked.sandbox = sandbox;
    if (stdio->in != BS_STDIO_INHERIT) /* nobody else reads it: a sandbox wants to know */
        asked.stdin_mode = BS_STDIN_BYTES;
    code = bs_admit(&asked, &wrapped, &is_wrapped, err);
    if (code == BS_OK)
        code = bs_check_sigchld(err);
    if (code == BS_OK)
        code = spawn(&asked, is_wrapped ? &wrapped : NULL, stdio, announce, process, err);
    bs_release(&asked, &wrapped, &is_wrapped);
    return code;
}

int bs_process_open(const struct bs_exec_request *request, const struct bs_stdio *stdio,
                    const struct bs_sandbox *sandbox, struct bs_process **process,
                    struct bs_error *err) {
    return bs_process_start(request, stdio, sandbox, -1, process, err);
}

pid_t bs_process_pid(const struct bs_process *process) { return process->pid; }

int bs_process_stream(struct bs_process *process, int stream) {
    enter(process);
    int fd = process->ours[stream];
    leave(process);
    return fd;
}

int bs_process_take(struct bs_process *process, int stream) {
    enter(process);
    int fd = process->ours[stream];
    process->ours[stream] = -1;
    leave(process);
    return fd;
}

void bs_process_close_stream(struct bs_process *process, int stream) {
    enter(process);
    bs_close(&process->ours[stream]);
    leave(process);
}

/* A program that the terminal has stopped for good would be waited for without an end. */
static void end_stopped(struct bs_process *process) {
    int signo = bs_terminal_check_stop(&process->terminal, process->pid);
    if (signo == 0 || process->stopped_by != 0)
        return;
    process->stopped_by = signo;
    (void)bs_group_signal(process->pid, SIGKILL);
}

/* True once the leader has ended, or cannot be waited for any more. */
static bool look_at_leader(struct bs_process *process) {
    siginfo_t info = {0};
    if (process->leader_ended)
        return true;
    if (BS_RETRY(waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT)) != 0) {
        process->lost_error = errno;
        bs_terminal_take_back(&process->terminal);
        if (!bs_watch_kill_group(&process->watch) && bs_watch_is_uncollected(&process->watch))
            (void)bs_group_signal(process->pid, SIGKILL);
        return true;
    }
    if (info.si_pid == 0) {
        end_stopped(process);
        return false;
    }
    bs_terminal_take_back(&process->terminal);
    process->leader_ended = true;
    process->group_end = (struct bs_group_end){.pgid = process->pid};
    process->leader_end.state =
        info.si_code == CLD_EXITED ? BS_PROCESS_EXITED : BS_PROCESS_SIGNALED;
    process->leader_end.number = info.si_status;
    if (process->stopped_by != 0)
        process->leader_end = (struct bs_process_end){BS_PROCESS_SIGNALED, process->stopped_by};
    return true;
}

/* Takes one step without blocking: the lock is held. With the end of the leader the rest of the
 * group is killed, and then the leader is reaped. True when there is nothing to wait for. */
static bool settle(struct bs_process *process) {
    if (process->reaped || process->lost_error != 0)
        return true;
    if (!look_at_leader(process))
        return false;
    if (process->lost_error != 0)
        return true;
    if (!bs_group_end_step(&process->group_end, bs_now_ns()))
        return false;
    process->end = process->leader_end;
    process->reaped = true;
    return true;
}

/* Where nothing tells the end of a child. */
enum { POLLED_MS = 20 };

static uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* When to look again although nothing happens. */
static uint64_t next_look(const struct bs_process *process, uint64_t now) {
    if (process->leader_ended)
        return process->group_end.at;
    if (process->watch.polled)
        return bs_after_ms(now, POLLED_MS);
    /* No descriptor tells of a stop. */
    return process->terminal.inherited ? bs_after_ms(now, BS_EXEC_TICK_MS) : BS_NEVER;
}

/* A killed process is gone in a moment, which every wait has time for. */
static bool are_dying(const struct bs_process *process, uint64_t now) {
    return bs_after_ms(now, BS_EXEC_KILL_MS - BS_EXEC_TICK_MS) < process->group_end.until;
}

/* Until the group has ended or `until`; the lock is free meanwhile. With `to_the_end`, a group
 * whose leader has ended is waited for until it is given up. */
static bool await_end(struct bs_process *process, uint64_t until, bool to_the_end) {
    bool ended = false;
    while (!(ended = settle(process))) {
        uint64_t now = bs_now_ns();
        bool goes_on = process->leader_ended && (to_the_end || are_dying(process, now));
        if (now >= until && !goes_on)
            break;
        /* The descriptor of a leader that has ended stays readable. */
        struct pollfd entry = {.fd = process->leader_ended ? -1 : process->watch.fd,
                               .events = POLLIN};
        uint64_t at = next_look(process, now);
        if (!goes_on)
            at = earlier(at, until);
        (void)pthread_mutex_unlock(&process->lock);
        (void)poll(&entry, 1, bs_poll_timeout(now, at));
        (void)pthread_mutex_lock(&process->lock);
    }
    return ended;
}

static int tell(const struct bs_process *process, struct bs_process_end *end,
                struct bs_error *err) {
    char buf[128];
    *end = process->end;
    if (process->lost_error == 0)
        return BS_OK;
    return bs_fail(err, BS_E_EXECUTION, process->lost_error, "wait error: %s",
                   bs_os_message(process->lost_error, buf, sizeof buf));
}

int bs_process_wait(struct bs_process *process, const uint64_t *timeout_ms,
                    struct bs_process_end *end, struct bs_error *err) {
    enter(process);
    /* A child that waits for its stdin to end would never end, and nobody could write to it. */
    if (timeout_ms == NULL)
        bs_close(&process->ours[0]);
    (void)await_end(process, timeout_ms == NULL ? BS_NEVER : bs_after_ms(bs_now_ns(), *timeout_ms),
                    false);
    int code = tell(process, end, err);
    leave(process);
    return code;
}

uint64_t bs_process_next_step(struct bs_process *process) {
    enter(process);
    uint64_t at = process->leader_ended && !process->reaped ? process->group_end.at : 0;
    leave(process);
    return at;
}

static int send_signal(struct bs_process *process, int signo, struct bs_error *err) {
    char buf[128];
    int code = BS_OK;
    enter(process);
    if (!process->reaped && process->lost_error == 0 && !bs_group_signal(process->pid, signo))
        code = bs_fail(err, BS_E_EXECUTION, errno, "cannot send signal %d: %s", signo,
                       bs_os_message(errno, buf, sizeof buf));
    leave(process);
    return code;
}

int bs_process_terminate(struct bs_process *process, struct bs_error *err) {
    return send_signal(process, SIGTERM, err);
}

int bs_process_kill(struct bs_process *process, struct bs_error *err) {
    return send_signal(process, SIGKILL, err);
}

int bs_process_continue(struct bs_process *process, struct bs_error *err) {
    return send_signal(process, SIGCONT, err);
}

/* Somebody who left the group writes where nobody will read. */
static bool has_writer(int fd) {
    struct pollfd entry = {.fd = fd, .events = POLLIN};
    return fd >= 0 && BS_RETRY(poll(&entry, 1, 0)) >= 0 && (entry.revents & POLLHUP) == 0;
}

/* The members' grace is the group's: the leader may go first. It stays a zombie meanwhile. */
static void await_group(struct bs_process *process, uint64_t until) {
    while (!process->reaped && process->lost_error == 0) {
        struct bs_members members = bs_group_look(process->pid, process->pid, UINT64_MAX);
        uint64_t now = bs_now_ns();
        if ((members.known && members.alive == 0) || now >= until)
            return;
        int witness = members.witness != 0 ? bs_pidfd(members.witness) : -1;
        struct pollfd entry = {.fd = witness, .events = POLLIN};
        uint64_t at = earlier(until, bs_after_ms(now, BS_EXEC_TICK_MS));
        (void)pthread_mutex_unlock(&process->lock);
        (void)poll(&entry, 1, bs_poll_timeout(now, at));
        (void)pthread_mutex_lock(&process->lock);
        bs_close(&witness);
    }
}

int bs_process_close(struct bs_process *process, uint64_t grace_ms, struct bs_process_end *end,
                     bool *detached_writers, struct bs_error *err) {
    enter(process);
    if (!process->reaped && process->lost_error == 0) {
        (void)bs_group_signal(process->pid, SIGTERM);
        (void)bs_group_signal(process->pid, SIGCONT);
        await_group(process, bs_after_ms(bs_now_ns(), grace_ms));
        if (!process->reaped)
            (void)bs_group_signal(process->pid, SIGKILL);
        (void)await_end(process, bs_after_ms(bs_now_ns(), BS_EXEC_KILL_MS), true);
    }
    for (int stream = 0; stream < 3; stream++) {
        if (stream > 0 && has_writer(process->ours[stream]))
            process->detached_writers = true;
        bs_close(&process->ours[stream]);
    }
    if (detached_writers != NULL)
        *detached_writers = process->detached_writers;
    int code = tell(process, end, err);
    leave(process);
    return code;
}

void bs_process_drop(struct bs_process *process) {
    if (process == NULL)
        return;
    enter(process);
    if (!process->reaped && process->lost_error == 0) {
        (void)bs_group_signal(process->pid, SIGKILL);
        (void)await_end(process, bs_after_ms(bs_now_ns(), BS_EXEC_KILL_MS), true);
    }
    while (process->calls > 1)
        (void)pthread_cond_wait(&process->left, &process->lock);
    for (int stream = 0; stream < 3; stream++)
        bs_close(&process->ours[stream]);
    bs_close(&process->report);
    bs_terminal_take_back(&process->terminal);
    (void)pthread_mutex_unlock(&process->lock);
    bs_watch_close(&process->watch);
    (void)pthread_cond_destroy(&process->left);
    (void)pthread_mutex_destroy(&process->lock);
    free(process);
}
