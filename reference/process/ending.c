#define _GNU_SOURCE
#include "process/handle.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/error.h"
#include "base/sys.h"
#include "process/start.h"

void bs_process_begin_call(struct bs_process *process) {
    /* Count the call before it takes the lock: bs_process_drop waits for all counted calls, and
     * must not free a lock that a call is waiting for. */
    process->calls++;
    (void)pthread_mutex_lock(&process->lock);
}

void bs_process_end_call(struct bs_process *process) {
    process->calls--;
    (void)pthread_cond_broadcast(&process->call_ended);
    (void)pthread_mutex_unlock(&process->lock);
}

/* Kill a program that the terminal has stopped for good. Otherwise a wait for it would never
 * end. */
static void end_stopped(struct bs_process *process) {
    int signo = bs_terminal_check_stop(&process->terminal, process->pid);
    if (signo == 0 || process->stopped_by != 0)
        return;
    process->stopped_by = signo;
    bs_group_end_kill(&process->group_end, process->pid, bs_now_ns());
}

static bool leader_ended(const struct bs_process *process) {
    return process->leader_end.state != BS_PROCESS_RUNS;
}

static void look_at_leader(struct bs_process *process) {
    siginfo_t info = {0};
    if (leader_ended(process))
        return;
    if (BS_RETRY(waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT)) != 0) {
        process->lost_error = errno;
        bs_terminal_take_back(&process->terminal);
        bs_watch_kill_lost_group(&process->watch, process->pid);
        return;
    }
    if (info.si_pid == 0) {
        end_stopped(process);
        return;
    }
    bs_terminal_take_back(&process->terminal);
    process->leader_end.state =
        info.si_code == CLD_EXITED ? BS_PROCESS_EXITED : BS_PROCESS_SIGNALED;
    process->leader_end.number = info.si_status;
    if (process->stopped_by != 0)
        process->leader_end = (struct bs_process_end){BS_PROCESS_SIGNALED, process->stopped_by};
}

bool bs_process_is_over(const struct bs_process *process) {
    return process->end.state != BS_PROCESS_RUNS || process->lost_error != 0;
}

/* Return the time of the next step of ending the group. */
static uint64_t next_step(const struct bs_process *process) {
    const struct bs_group_end *group = &process->group_end;
    bool is_ending = group->phase != BS_GROUP_RUNS && group->phase != BS_GROUP_ENDED;
    return is_ending && !bs_process_is_over(process) ? group->at : BS_NEVER;
}

bool bs_process_step_to_end(struct bs_process *process, bool keeps_grace) {
    struct bs_group_end *group = &process->group_end;
    if (!bs_process_is_over(process))
        look_at_leader(process);
    if (bs_process_is_over(process))
        return true;
    uint64_t now = bs_now_ns();
    bool is_ending = group->phase == BS_GROUP_KILLED || group->phase == BS_GROUP_REAPED ||
                     (group->phase == BS_GROUP_GRACE && keeps_grace);
    if (leader_ended(process) && !is_ending)
        bs_group_end_kill(group, process->pid, now);
    if (group->phase != BS_GROUP_RUNS && bs_group_end_step(group, leader_ended(process), now))
        process->end = process->leader_end;
    return bs_process_is_over(process);
}

/* Return when to continue if no event happens. */
static uint64_t next_look(const struct bs_process *process, uint64_t now) {
    uint64_t at = next_step(process);
    if (leader_ended(process))
        return at;
    if (process->watch.polled)
        at = bs_earlier(at, bs_after_ms(now, BS_WATCH_POLLED_MS));
    /* No descriptor reports that a process was stopped, so this is checked at intervals. */
    if (process->terminal.inherited)
        at = bs_earlier(at, bs_after_ms(now, BS_EXEC_TICK_MS));
    return at;
}

/* Wait for an event, at most until `until`. The lock is released meanwhile. */
static void wait_for_event(struct bs_process *process, uint64_t now, uint64_t until) {
    /* Poll a member instead of a leader that has ended, because the leader's descriptor stays
     * readable. */
    pid_t member = leader_ended(process) ? process->group_end.live_pid : 0;
    int member_pidfd = member != 0 ? bs_pidfd(member) : -1;
    struct pollfd entry = {.fd = leader_ended(process) ? member_pidfd : process->watch.fd,
                           .events = POLLIN};
    uint64_t at = bs_earlier(next_look(process, now), until);
    (void)pthread_mutex_unlock(&process->lock);
    int ready = poll(&entry, 1, bs_poll_timeout(now, at));
    (void)pthread_mutex_lock(&process->lock);
    if (ready > 0 && member_pidfd >= 0)
        process->group_end.at = 0;
    bs_close(&member_pidfd);
}

/* True for BS_EXEC_TICK_MS after the first SIGKILL. Killed members usually end within this time, so
 * a wait may exceed its limit by it. */
static bool were_just_killed(const struct bs_process *process, uint64_t now) {
    return leader_ended(process) && process->group_end.phase > BS_GROUP_GRACE &&
           now < bs_after_ms(process->group_end.killed_at, BS_EXEC_TICK_MS);
}

void bs_process_await_end(struct bs_process *process, uint64_t until) {
    while (!bs_process_step_to_end(process, false)) {
        uint64_t now = bs_now_ns();
        bool keeps_waiting = were_just_killed(process, now);
        if (now >= until && !keeps_waiting)
            break;
        wait_for_event(process, now, keeps_waiting ? BS_NEVER : until);
    }
}

void bs_process_await_ended_group(struct bs_process *process) {
    while (!bs_process_step_to_end(process, true) && process->group_end.phase != BS_GROUP_ENDED)
        wait_for_event(process, bs_now_ns(), BS_NEVER);
}

int bs_process_report_end(const struct bs_process *process, struct bs_process_end *end,
                          struct bs_error *err) {
    char buf[128];
    *end = process->end;
    if (process->lost_error == 0)
        return BS_OK;
    return bs_fail(err, BS_E_EXECUTION, process->lost_error, "wait error: %s",
                   bs_os_message(process->lost_error, buf, sizeof buf));
}

void bs_process_set_grace(struct bs_process *process, uint64_t grace_ms) {
    struct bs_group_end *group = &process->group_end;
    bool is_killed = group->phase == BS_GROUP_KILLED || group->phase == BS_GROUP_REAPED;
    if (!bs_process_is_over(process) && !is_killed)
        bs_group_end_start(group, process->pid, SIGTERM, grace_ms);
}

void bs_process_start_grace(struct bs_process *process, uint64_t grace_ms) {
    bs_process_begin_call(process);
    bs_process_set_grace(process, grace_ms);
    bs_process_end_call(process);
}

int bs_process_step(struct bs_process *process, struct bs_process_step *step,
                    struct bs_error *err) {
    bs_process_begin_call(process);
    (void)bs_process_step_to_end(process, true);
    int code = bs_process_report_end(process, &step->end, err);
    step->leader_ended = leader_ended(process);
    step->at = next_step(process);
    bs_process_end_call(process);
    return code;
}
