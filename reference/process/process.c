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
    struct bs_watch watch; /* closed by the drop, because a wait may be polling it */
    struct bs_terminal terminal;
    int stopped_by;            /* SIGTTIN or SIGTTOU that stopped the program for good; else 0 */
    pthread_mutex_t lock;      /* guards all fields below */
    pthread_cond_t call_ended; /* signalled at the end of each call */
    unsigned calls;            /* calls that have begun and not ended */
    int streams[3];            /* the caller's ends; -1 once taken or closed */
    int report; /* of a launcher, closed by the drop because that ends the launcher; else -1 */
    bool leader_ended; /* the rest of the group is being ended */
    struct bs_group_end group_end;
    struct bs_process_end leader_end; /* `end` becomes this when the group has ended */
    bool reaped;
    int lost_error; /* errno if another part of the program reaped the child; else 0 */
    struct bs_process_end end;
    bool detached_writers;
};

static void begin_call(struct bs_process *process) {
    (void)pthread_mutex_lock(&process->lock);
    process->calls++;
}

static void end_call(struct bs_process *process) {
    process->calls--;
    (void)pthread_cond_broadcast(&process->call_ended);
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

/* Start the program and make its handle once it runs. */
static int open_handle(const struct bs_exec_request *request, const struct bs_wrapped *wrapped,
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
    /* The sandbox must know that only the program reads its stdin. */
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
    begin_call(process);
    int fd = process->streams[stream];
    end_call(process);
    return fd;
}

int bs_process_take(struct bs_process *process, int stream) {
    begin_call(process);
    int fd = process->streams[stream];
    process->streams[stream] = -1;
    end_call(process);
    return fd;
}

void bs_process_close_stream(struct bs_process *process, int stream) {
    begin_call(process);
    bs_close(&process->streams[stream]);
    end_call(process);
}

/* Kill a program that the terminal has stopped for good, or a wait for it would never end. */
static void end_stopped(struct bs_process *process) {
    int signo = bs_terminal_check_stop(&process->terminal, process->pid);
    if (signo == 0 || process->stopped_by != 0)
        return;
    process->stopped_by = signo;
    (void)bs_group_signal(process->pid, SIGKILL);
}

/* True once the leader has ended or cannot be waited for. */
static bool look_at_leader(struct bs_process *process) {
    siginfo_t info = {0};
    if (process->leader_ended)
        return true;
    if (BS_RETRY(waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT)) != 0) {
        process->lost_error = errno;
        bs_terminal_take_back(&process->terminal);
        bs_watch_kill_lost_group(&process->watch, process->pid);
        return true;
    }
    if (info.si_pid == 0) {
        end_stopped(process);
        return false;
    }
    bs_terminal_take_back(&process->terminal);
    process->leader_ended = true;
    process->leader_end.state =
        info.si_code == CLD_EXITED ? BS_PROCESS_EXITED : BS_PROCESS_SIGNALED;
    process->leader_end.number = info.si_status;
    if (process->stopped_by != 0)
        process->leader_end = (struct bs_process_end){BS_PROCESS_SIGNALED, process->stopped_by};
    return true;
}

static bool is_over(const struct bs_process *process) {
    return process->reaped || process->lost_error != 0;
}

/* When the next step of ending the group is due. */
static uint64_t next_step(const struct bs_process *process) {
    const struct bs_group_end *group = &process->group_end;
    bool is_ending = group->phase != BS_GROUP_RUNS && group->phase != BS_GROUP_ENDED;
    return is_ending && !is_over(process) ? group->at : BS_NEVER;
}

/* Take one step without blocking, with the lock held. After the end of the leader the rest of the
 * group is killed, after its grace period if `keeps_grace` is true. Returns true if the wait is
 * over. */
static bool step_to_end(struct bs_process *process, bool keeps_grace) {
    struct bs_group_end *group = &process->group_end;
    if (is_over(process) || (look_at_leader(process) && process->lost_error != 0))
        return true;
    uint64_t now = bs_now_ns();
    bool is_ending = group->phase == BS_GROUP_KILLED || group->phase == BS_GROUP_REAPED ||
                     (group->phase == BS_GROUP_GRACE && keeps_grace);
    if (process->leader_ended && !is_ending)
        bs_group_end_kill(group, process->pid, now);
    if (group->phase == BS_GROUP_RUNS || !bs_group_end_step(group, process->leader_ended, now) ||
        !process->leader_ended)
        return false;
    process->end = process->leader_end;
    process->reaped = true;
    return true;
}

/* How often to look for the end of the child if no descriptor reports it. */
enum { POLLED_MS = 20 };

static uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* When to look again if no event happens. */
static uint64_t next_look(const struct bs_process *process, uint64_t now) {
    uint64_t at = next_step(process);
    if (process->leader_ended)
        return at;
    if (process->watch.polled)
        at = earlier(at, bs_after_ms(now, POLLED_MS));
    /* No descriptor reports a stop, so it is polled for. */
    if (process->terminal.inherited)
        at = earlier(at, bs_after_ms(now, BS_EXEC_TICK_MS));
    return at;
}

/* Wait for an event or until `until`, with the lock free meanwhile. */
static void wait_for_event(struct bs_process *process, uint64_t now, uint64_t until) {
    /* The descriptor of a leader that has ended stays readable. */
    pid_t member = process->leader_ended ? process->group_end.live_pid : 0;
    int member_pidfd = member != 0 ? bs_pidfd(member) : -1;
    struct pollfd entry = {.fd = process->leader_ended ? member_pidfd : process->watch.fd,
                           .events = POLLIN};
    uint64_t at = earlier(next_look(process, now), until);
    (void)pthread_mutex_unlock(&process->lock);
    int ready = poll(&entry, 1, bs_poll_timeout(now, at));
    (void)pthread_mutex_lock(&process->lock);
    if (ready > 0 && member_pidfd >= 0)
        process->group_end.at = 0;
    bs_close(&member_pidfd);
}

/* True for BS_EXEC_TICK_MS after the first SIGKILL: killed members usually end by then, so a wait
 * goes on beyond its limit. */
static bool were_just_killed(const struct bs_process *process, uint64_t now) {
    return process->leader_ended && process->group_end.phase > BS_GROUP_GRACE &&
           now < bs_after_ms(process->group_end.killed_at, BS_EXEC_TICK_MS);
}

/* Wait until the group has ended or until `until`. */
static void await_end(struct bs_process *process, uint64_t until) {
    while (!step_to_end(process, false)) {
        uint64_t now = bs_now_ns();
        bool keeps_waiting = were_just_killed(process, now);
        if (now >= until && !keeps_waiting)
            break;
        wait_for_event(process, now, keeps_waiting ? BS_NEVER : until);
    }
}

/* Wait until the group has ended, which is being ended, or is given up. The leader may end first
 * and stays a zombie, because a grace period is for the whole group. */
static void await_ended_group(struct bs_process *process) {
    while (!step_to_end(process, true) && process->group_end.phase != BS_GROUP_ENDED)
        wait_for_event(process, bs_now_ns(), BS_NEVER);
}

static int report_end(const struct bs_process *process, struct bs_process_end *end,
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
    begin_call(process);
    /* A child that waits for the end of its stdin would never end, because the caller is blocked
     * here. */
    if (timeout_ms == NULL)
        bs_close(&process->streams[0]);
    uint64_t limit_ms = timeout_ms != NULL ? *timeout_ms : BS_NEVER;
    if (limit_ms == 0) /* takes one step and never blocks, even if killed members are still dying */
        (void)step_to_end(process, false);
    else
        await_end(process, limit_ms == BS_NEVER ? BS_NEVER : bs_after_ms(bs_now_ns(), limit_ms));
    int code = report_end(process, end, err);
    end_call(process);
    return code;
}

/* A group that is being ended already keeps the shorter time. */
static void start_grace(struct bs_process *process, uint64_t grace_ms) {
    struct bs_group_end *group = &process->group_end;
    uint64_t until = group->phase == BS_GROUP_GRACE ? group->until : BS_NEVER;
    if (is_over(process))
        return;
    bool is_killed = group->phase == BS_GROUP_KILLED || group->phase == BS_GROUP_REAPED;
    if (!is_killed)
        bs_group_end_start(group, process->pid, SIGTERM, grace_ms, bs_now_ns());
    if (!is_killed && until < group->until)
        group->at = group->until = until;
}

void bs_process_start_grace(struct bs_process *process, uint64_t grace_ms) {
    begin_call(process);
    start_grace(process, grace_ms);
    end_call(process);
}

int bs_process_step(struct bs_process *process, struct bs_process_step *step,
                    struct bs_error *err) {
    begin_call(process);
    (void)step_to_end(process, true);
    int code = report_end(process, &step->end, err);
    step->leader_ended = process->leader_ended;
    step->at = next_step(process);
    end_call(process);
    return code;
}

static int send_signal(struct bs_process *process, int signo, struct bs_error *err) {
    char buf[128];
    int code = BS_OK;
    begin_call(process);
    /* The number of a reaped leader may be assigned again. */
    bool may_signal = !is_over(process) && process->group_end.phase != BS_GROUP_REAPED;
    if (may_signal && !bs_group_signal(process->pid, signo))
        code = bs_fail(err, BS_E_EXECUTION, errno, "cannot send signal %d: %s", signo,
                       bs_os_message(errno, buf, sizeof buf));
    end_call(process);
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
    begin_call(process);
    start_grace(process, grace_ms);
    await_ended_group(process);
    for (int stream = 0; stream < 3; stream++) {
        if (stream > 0 && has_writer(process->streams[stream]))
            process->detached_writers = true;
        bs_close(&process->streams[stream]);
    }
    if (detached_writers != NULL)
        *detached_writers = process->detached_writers;
    int code = report_end(process, end, err);
    end_call(process);
    return code;
}

void bs_process_drop(struct bs_process *process) {
    if (process == NULL)
        return;
    begin_call(process);
    if (!is_over(process)) {
        /* The number of a reaped leader may be assigned again. */
        if (process->group_end.phase != BS_GROUP_REAPED)
            bs_group_end_kill(&process->group_end, process->pid, bs_now_ns());
        await_ended_group(process);
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
