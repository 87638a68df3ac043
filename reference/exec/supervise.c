#define _GNU_SOURCE
#include "exec/supervise.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"
#include "exec/report.h"
#include "exec/run.h"

static pid_t pgid(const struct bs_run *run) { return run->child->pid; }

/* Read how the leader ended, without reaping it. The answer is stored, because another part of the
 * program may reap the leader before bs_exec_run does. The system call is used directly, because it
 * also fills the rusage that waitid(2) does not return. */
static int query_leader_end(struct bs_run *run) {
    return (int)BS_RETRY(
        syscall(SYS_waitid, P_PID, pgid(run), &run->end, WEXITED | WNOHANG | WNOWAIT, &run->usage));
}

static bool leader_ended(const struct bs_run *run) { return run->end.si_pid != 0; }

/* True until there is a reason to end the run. */
static bool is_running(const struct bs_run *run) { return run->group.phase == BS_GROUP_RUNS; }

/* True once the group has ended. A process outside it may still hold the pipes. */
static bool is_draining(const struct bs_run *run) { return run->group.phase == BS_GROUP_ENDED; }

/* End the run. Later causes are ignored: the first one decides the result. */
static void end_run(struct bs_run *run, enum bs_cause cause, int signo) {
    run->cause = cause;
    bs_group_end_start(&run->group, pgid(run), signo, BS_EXEC_GRACE_MS);
}

static void kill_group(struct bs_run *run, uint64_t now) {
    run->cause = CAPPED;
    bs_group_end_kill(&run->group, pgid(run), now);
}

/* Open a pidfd of a member that was alive at the last step, so that poll wakes when the member
 * ends. */
static void watch_member(struct bs_run *run) {
    if (run->group.live_pid == run->member)
        return;
    bs_close(&run->member_pidfd);
    run->member = run->group.live_pid;
    if (run->member != 0)
        run->member_pidfd = bs_pidfd(run->member);
}

/* True if a process has the other end of the pipe open. */
static bool has_writer(const struct bs_drain *drain) {
    struct pollfd entry = {.fd = drain->fd, .events = 0};
    return drain->fd >= 0 && BS_RETRY(poll(&entry, 1, 0)) == 0;
}

/* Record which output pipes have a writer. Called between the leader's exit and the kill of its
 * group. The leader is a zombie then, so it is not one of the writers. */
static void note_writers(struct bs_run *run) {
    run->held_at_exit[0] = has_writer(&run->out);
    run->held_at_exit[1] = has_writer(&run->err);
}

/* Find out which pipes a killed member held: such a pipe had a writer before the kill and has none
 * now. Called once the group has ended, so a writer that is left is outside the group. */
static void note_killed_writers(struct bs_run *run) {
    run->unfinished = (run->held_at_exit[0] && !has_writer(&run->out) ? BS_STDOUT : 0U) |
                      (run->held_at_exit[1] && !has_writer(&run->err) ? BS_STDERR : 0U);
    run->killed_writers = run->unfinished != 0;
}

/* Take the step that is due. Returns true once the group has ended. */
static bool step_group(struct bs_run *run, uint64_t now) {
    if (run->drain_until != 0)
        return true;
    bool ended = bs_group_end_step(&run->group, leader_ended(run), now);
    watch_member(run);
    if (ended) {
        run->drain_until = bs_after_ms(now, BS_EXEC_LINGER_MS);
        note_killed_writers(run);
    }
    return ended;
}

static void look_at_leader(struct bs_run *run) {
    if (leader_ended(run) || run->cause == LOST)
        return;
    if (query_leader_end(run) != 0) {
        run->lost_error = errno;
        run->cause = LOST;
    }
}

/* Find out whether the leader is stopped. This is checked at each turn, because no descriptor
 * reports a stop. */
static void look_for_stop(struct bs_run *run) {
    if (is_running(run) && !leader_ended(run))
        run->stopped_by = bs_terminal_check_stop(&run->child->terminal, pgid(run));
}

static int cancel_fd(const struct bs_run *run) {
    return run->request->cancel_fd != NULL ? *run->request->cancel_fd : -1;
}

static bool cancelled(const struct bs_run *run) {
    struct pollfd entry = {.fd = cancel_fd(run), .events = POLLIN};
    return entry.fd >= 0 && BS_RETRY(poll(&entry, 1, 0)) == 1;
}

/* Find out whether the run has to end. If there are several causes, the order of the contract
 * decides: stdin failure, signal, cap, exit, cancel, stop, deadline. The leader was checked before
 * the signal is read, so that a signal wins over an exit that is seen in the same turn. */
static void decide_cause(struct bs_run *run, uint64_t now) {
    bool strict = run->request->stdin_failure == BS_STDIN_FAILURE_ERROR;
    if (leader_ended(run))
        bs_feed_abandon(&run->child->feed);
    int signo = bs_signal_first(run->slot);
    if (strict && bs_feed_failed(&run->child->feed)) {
        end_run(run, STDIN_FAILED, SIGTERM);
    } else if (signo != 0) {
        run->signo = signo;
        end_run(run, SIGNALLED, signo);
    } else if (run->out.over || run->err.over) {
        kill_group(run, now);
    } else if (leader_ended(run)) {
        run->cause = EXITED;
        note_writers(run);
        bs_group_end_after_exit(&run->group, pgid(run), now);
    } else if (cancelled(run)) {
        end_run(run, CANCELLED, SIGTERM);
    } else if (run->stopped_by != 0) {
        end_run(run, STOPPED, SIGTERM);
    } else if (now >= run->deadline) {
        end_run(run, DEADLINE, SIGTERM);
    }
}

/* Change the cause if the cap was exceeded by output that was read after the exit: such output
 * counts too. */
static void decide_late_cap(struct bs_run *run) {
    if (run->cause == EXITED && (run->out.over || run->err.over))
        run->cause = CAPPED;
}

/* Record the error of the first stream that could not be read. This error makes the run fail. */
static void note_output(struct bs_run *run, const struct bs_drain *drain, int os_error) {
    if (os_error == 0 || run->output_error != 0)
        return;
    run->output_error = os_error;
    run->output_lost = drain->stream;
}

static bool drained(const struct bs_run *run) { return run->out.fd < 0 && run->err.fd < 0; }

/* True if the run need not wait for the pipes any longer: both are closed, or the linger time or
 * the deadline has passed, or a signal arrived. The time is limited, because a process outside the
 * group may hold a pipe for ever. */
static bool stop_draining(struct bs_run *run, uint64_t now) {
    if (drained(run))
        return true;
    bool shortened = now >= run->deadline || bs_signal_first(run->slot) != 0;
    if (now < run->drain_until && !shortened)
        return false;
    note_output(run, &run->out, bs_drain_rest(&run->out, &run->receivers));
    note_output(run, &run->err, bs_drain_rest(&run->err, &run->receivers));
    run->detached_writers = !drained(run);
    run->unfinished |= (run->out.fd >= 0 ? BS_STDOUT : 0U) | (run->err.fd >= 0 ? BS_STDERR : 0U);
    return true;
}

/* Return when to continue if no event happens. */
static uint64_t next_look(const struct bs_run *run, uint64_t now) {
    uint64_t at = is_running(run)    ? run->deadline
                  : is_draining(run) ? run->drain_until
                                     : run->group.at;
    if (is_running(run) && run->child->terminal.inherited)
        at = bs_earlier(at, bs_after_ms(now, BS_EXEC_TICK_MS));
    if (is_draining(run) && bs_signal_first(run->slot) == 0 && run->deadline > now)
        at = bs_earlier(at, run->deadline);
    if (run->child->watch.polled && !leader_ended(run))
        at = bs_earlier(at, bs_after_ms(now, BS_WATCH_POLLED_MS));
    return at;
}

/* If poll fails, wait a moment and then treat every descriptor as ready. This is safe, because the
 * functions that serve the descriptors never block. */
static void wait_without_poll(int timeout_ms) {
    int ms = timeout_ms >= 0 && timeout_ms < BS_WATCH_POLLED_MS ? timeout_ms : BS_WATCH_POLLED_MS;
    struct timespec moment = {0, ms * (long)BS_NS_PER_MS};
    (void)nanosleep(&moment, NULL);
}

enum slot_of { P_OUT, P_ERR, P_IN, P_SIGNAL, P_CANCEL, P_LEADER, P_MEMBER, P_TEE, P_COUNT };

/* Fill `set` and poll. poll ignores an entry with a negative descriptor. */
static void wait_for_events(const struct bs_run *run, struct pollfd *set, uint64_t now) {
    bool open_ended = is_running(run) || is_draining(run);
    set[P_OUT] = (struct pollfd){.fd = run->out.fd, .events = POLLIN};
    set[P_ERR] = (struct pollfd){.fd = run->err.fd, .events = POLLIN};
    set[P_IN] = (struct pollfd){.fd = run->child->feed.fd, .events = POLLOUT};
    set[P_SIGNAL] =
        (struct pollfd){.fd = open_ended ? bs_signal_fd(run->slot) : -1, .events = POLLIN};
    set[P_CANCEL] = (struct pollfd){.fd = is_running(run) ? cancel_fd(run) : -1, .events = POLLIN};
    set[P_LEADER] =
        (struct pollfd){.fd = leader_ended(run) ? -1 : run->child->watch.fd, .events = POLLIN};
    set[P_MEMBER] = (struct pollfd){.fd = run->member_pidfd, .events = POLLIN};
    set[P_TEE] = (struct pollfd){
        .fd = run->receivers.tee != NULL ? bs_tee_fd(run->receivers.tee) : -1, .events = POLLOUT};
    int timeout = bs_poll_timeout(now, next_look(run, now));
    if (poll(set, P_COUNT, timeout) >= 0)
        return;
    bool refused = errno != EINTR;
    if (refused)
        wait_without_poll(timeout);
    for (int i = 0; i < P_COUNT; i++)
        set[i].revents = refused && set[i].fd >= 0 ? POLLIN : 0;
}

static void read_output(struct bs_run *run, struct bs_drain *drain) {
    note_output(run, drain, bs_drain_read(drain, &run->receivers));
}

static void handle_events(struct bs_run *run, const struct pollfd *set) {
    if (set[P_OUT].revents != 0)
        read_output(run, &run->out);
    if (set[P_ERR].revents != 0)
        read_output(run, &run->err);
    if (set[P_IN].revents != 0)
        bs_feed_write(&run->child->feed);
    if (set[P_TEE].revents != 0)
        bs_tee_flush(run->receivers.tee);
    if (set[P_MEMBER].revents != 0) {
        bs_close(&run->member_pidfd);
        run->member = 0;
        run->group.at = 0;
    }
}

/* Wait for an event, serve the descriptors that are ready, check the leader and take a step.
 * Returns true once the run is over. */
static bool turn(struct bs_run *run) {
    struct pollfd set[P_COUNT];
    wait_for_events(run, set, bs_now_ns());
    handle_events(run, set);
    uint64_t now = bs_now_ns();
    /* Check the leader at the deadline too: an exit wins over a deadline that is seen in the same
     * turn. */
    bool is_ending = !is_running(run) && !is_draining(run);
    bool is_due = now >= run->deadline || (is_ending && now >= run->group.until);
    if (set[P_LEADER].revents != 0 || run->child->watch.polled || is_due ||
        bs_feed_failed(&run->child->feed))
        look_at_leader(run);
    look_for_stop(run);
    if (run->cause == LOST) {
        bs_watch_kill_lost_group(&run->child->watch, pgid(run));
        bs_watch_collect(&run->child->watch, BS_EXEC_KILL_MS);
        return true;
    }
    if (run->output_error != 0 && run->cause == NONE)
        kill_group(run, now);
    if (is_running(run))
        decide_cause(run, now);
    if (is_running(run) || !step_group(run, now))
        return false;
    decide_late_cap(run);
    return stop_draining(run, now);
}

static uint64_t limit(const uint64_t *given, uint64_t none) {
    return given != NULL ? *given : none;
}

int bs_supervise(const struct bs_exec_request *request, struct bs_child *child,
                 const struct bs_signal_slot *slot, struct bs_tee *tee,
                 struct bs_exec_result *result, struct bs_error *err) {
    struct bs_run run = {.request = request,
                         .child = child,
                         .slot = slot,
                         .receivers = {.request = request, .tee = tee},
                         .cause = NONE,
                         .deadline =
                             bs_after_ms(child->spawned_at, limit(request->timeout_ms, BS_NEVER)),
                         .member_pidfd = -1};
    uint64_t most = limit(request->max_output_bytes, UINT64_MAX);
    bs_drain_init(&run.out, child->out, BS_STDOUT, most);
    bs_drain_init(&run.err, child->err, BS_STDERR, most);
    child->out = child->err = -1; /* now owned by the drains */
    while (!turn(&run)) {
    }
    int code = bs_report(&run, result, err);
    bs_drain_clear(&run.out);
    bs_drain_clear(&run.err);
    bs_close(&child->feed.fd);
    bs_close(&child->report);
    bs_close(&run.member_pidfd);
    bs_watch_close(&child->watch);
    return code;
}
