#define _GNU_SOURCE
#include "exec/supervise.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"
#include "exec/group.h"
#include "exec/report.h"
#include "exec/run.h"

static pid_t pgid(const struct bs_run *run) { return run->child->pid; }

/* How the leader ended, without collecting it. What this says is kept: if somebody else collects
 * the leader before we do, the reap has nothing to add. The system call gives the rusage that
 * waitid(2) leaves out. */
static int look_for_end(struct bs_run *run) {
    return (int)BS_RETRY(
        syscall(SYS_waitid, P_PID, pgid(run), &run->end, WEXITED | WNOHANG | WNOWAIT, &run->usage));
}

static void collect(const struct bs_run *run) {
    siginfo_t end;
    (void)BS_RETRY(waitid(P_PID, (id_t)pgid(run), &end, WEXITED | WNOHANG));
}

static void enter(struct bs_run *run, enum bs_phase phase, uint64_t from, uint64_t ms) {
    run->phase = phase;
    run->until = ms == BS_NEVER ? BS_NEVER : bs_after_ms(from, ms);
}

static void kill_group(struct bs_run *run, uint64_t now) {
    (void)bs_group_signal(pgid(run), SIGKILL);
    enter(run, KILLED, now, BS_EXEC_KILL_MS);
}

/* The first cause names the result; what comes later changes nothing. SIGCONT follows the signal,
 * or a stopped member could not act on it before SIGKILL. */
static void end_run(struct bs_run *run, enum bs_cause cause, int signo, uint64_t now) {
    run->cause = cause;
    run->unsent = bs_group_signal(pgid(run), signo) ? 0 : signo;
    (void)bs_group_signal(pgid(run), SIGCONT);
    enter(run, GRACE, now, BS_EXEC_GRACE_MS);
}

static void close_witness(struct bs_run *run) { bs_close(&run->witness); }

static void finish_group(struct bs_run *run, uint64_t now) {
    close_witness(run);
    enter(run, DRAINING, now, BS_EXEC_LINGER_MS);
}

/* Looks for members that are alive and arranges to be woken when one of them ends. In between, what
 * the last look found holds: a flood of output must not cost a walk through /proc for each read. */
static unsigned members_alive(struct bs_run *run, uint64_t not_after, uint64_t now) {
    if (now < run->look_at && now < run->until)
        return run->alive;
    struct bs_members members = bs_group_look(pgid(run), pgid(run), not_after);
    close_witness(run);
    if (members.witness != 0)
        run->witness = bs_pidfd(members.witness);
    /* Without /proc only the bounds end the wait. */
    run->alive = members.known ? members.alive : 1;
    /* Without a witness, what was killed is worth a quicker look: it lasts for a moment only. */
    bool brief = run->witness < 0 && run->phase != GRACE;
    run->look_at = bs_after_ms(now, brief ? 5 : BS_EXEC_TICK_MS);
    return run->alive;
}

/* The zombie leader keeps the number ours until here: the last signal, then the reap. A signal that
 * the system refuses to send is sent again for as long as members are waited for after a SIGKILL.
 */
static void reap_leader(struct bs_run *run, uint64_t now) {
    if (!bs_group_signal(pgid(run), SIGKILL) && run->phase != KILLED) {
        enter(run, KILLED, now, BS_EXEC_KILL_MS);
        run->look_at = 0;
        return;
    }
    collect(run);
    run->reaped_at = bs_boot_ticks();
    bs_watch_close(&run->child->watch);
    close_witness(run);
    if (bs_group_empty(pgid(run))) {
        finish_group(run, now);
        return;
    }
    /* Killed members may take a moment, or are zombies that their own parent has not collected. The
     * bound counts from the first SIGKILL. */
    uint64_t bound = run->phase == KILLED ? run->until : bs_after_ms(now, BS_EXEC_KILL_MS);
    run->phase = REAPED;
    run->until = bound;
    run->look_at = 0;
}

static void look_at_leader(struct bs_run *run) {
    if (run->leader_gone || run->cause == LOST)
        return;
    run->end.si_pid = 0;
    if (look_for_end(run) != 0) {
        run->lost_error = errno;
        run->cause = LOST;
    } else if (run->end.si_pid != 0) {
        run->leader_gone = true;
        run->look_at = 0;
    }
}

/* No descriptor tells of a stop. */
static void look_for_stop(struct bs_run *run) {
    if (run->phase == RUNNING && !run->leader_gone)
        run->stopped_by = bs_terminal_check_stop(&run->child->terminal, pgid(run));
}

static int cancel_fd(const struct bs_run *run) {
    return run->request->cancel_fd != NULL ? *run->request->cancel_fd : -1;
}

static bool cancelled(const struct bs_run *run) {
    struct pollfd entry = {.fd = cancel_fd(run), .events = POLLIN};
    return entry.fd >= 0 && BS_RETRY(poll(&entry, 1, 0)) == 1;
}

/* What ended the run, if anything did, in the contract's order: stdin failure, signal, exit,
 * deadline. The exit is looked at before the signal, so that a signal noted in the same look wins.
 */
static void decide(struct bs_run *run, uint64_t now) {
    bool strict = run->request->stdin_failure == BS_STDIN_FAILURE_ERROR;
    if (run->leader_gone)
        bs_feed_abandon(&run->child->feed);
    int signo = bs_signal_first(run->slot);
    if (strict && bs_feed_failed(&run->child->feed)) {
        end_run(run, STDIN_FAILED, SIGTERM, now);
    } else if (signo != 0) {
        run->signo = signo;
        end_run(run, SIGNALLED, signo, now);
    } else if (run->out.over || run->err.over) {
        run->cause = CAPPED;
        kill_group(run, now);
    } else if (run->leader_gone) {
        run->cause = EXITED;
        reap_leader(run, now);
    } else if (cancelled(run)) {
        end_run(run, CANCELLED, SIGTERM, now);
    } else if (run->stopped_by != 0) {
        end_run(run, STOPPED, SIGTERM, now);
    } else if (now >= run->deadline) {
        end_run(run, DEADLINE, SIGTERM, now);
    }
}

static void escalate(struct bs_run *run, uint64_t now) {
    if (run->phase == GRACE && run->unsent != 0 && bs_group_signal(pgid(run), run->unsent))
        run->unsent = 0;
    if (run->leader_gone && members_alive(run, UINT64_MAX, now) == 0) {
        reap_leader(run, now);
    } else if (run->phase == GRACE && now >= run->until) {
        kill_group(run, now);
    } else if (run->phase == KILLED) {
        /* Again, for members that were forked between the two. */
        (void)bs_group_signal(pgid(run), SIGKILL);
        if (now < run->until)
            return;
        if (run->leader_gone) {
            reap_leader(run, now);
        } else {
            run->group_left = 1; /* an uninterruptible wait: only the system can end it */
            finish_group(run, now);
        }
    }
}

static void look_after_reap(struct bs_run *run, uint64_t now) {
    unsigned alive = members_alive(run, run->reaped_at, now);
    if (alive > 0 && now < run->until)
        return;
    run->group_left = alive;
    finish_group(run, now);
}

/* A byte beyond the cap that was written before the exit counts, whichever was seen first. */
static void decide_late_cap(struct bs_run *run) {
    if (run->cause == EXITED && (run->out.over || run->err.over))
        run->cause = CAPPED;
}

/* The first stream that could not be read makes the run an error. */
static void note_output(struct bs_run *run, const struct bs_drain *drain, int os_error) {
    if (os_error == 0 || run->output_error != 0)
        return;
    run->output_error = os_error;
    run->output_lost = drain->stream;
}

static bool drained(const struct bs_run *run) { return run->out.fd < 0 && run->err.fd < 0; }

/* Waiting for strangers ends with their end, the bound, the deadline or a signal. */
static bool stop_draining(struct bs_run *run, uint64_t now) {
    if (drained(run))
        return true;
    bool shortened = now >= run->deadline || bs_signal_first(run->slot) != 0;
    if (now < run->until && !shortened)
        return false;
    note_output(run, &run->out, bs_drain_rest(&run->out, &run->outlets));
    note_output(run, &run->err, bs_drain_rest(&run->err, &run->outlets));
    run->detached_writers = !drained(run);
    return true;
}

static uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* How often to ask for the leader's end where nothing can tell it: see bs_watch_start. */
enum { POLLED_MS = 20 };

/* When to look again although nothing happens. */
static uint64_t next_look(const struct bs_run *run, uint64_t now) {
    uint64_t at = run->until;
    if (run->phase == RUNNING)
        at = run->deadline;
    if (run->phase == RUNNING && run->child->terminal.inherited)
        at = earlier(at, bs_after_ms(now, BS_EXEC_TICK_MS));
    if (run->phase == DRAINING && bs_signal_first(run->slot) == 0 && run->deadline > now)
        at = earlier(at, run->deadline);
    bool polls_group =
        run->phase == REAPED || (run->leader_gone && (run->phase == GRACE || run->phase == KILLED));
    if (polls_group)
        at = earlier(at, run->look_at);
    if (run->child->watch.polled && !run->leader_gone)
        at = earlier(at, bs_after_ms(now, POLLED_MS));
    /* What was to be sent and was refused, or did not do its work. */
    if ((run->phase == GRACE && run->unsent != 0) || (run->phase == KILLED && !run->leader_gone))
        at = earlier(at, bs_after_ms(now, BS_EXEC_TICK_MS));
    return at;
}

/* Where the system refuses to poll, everything is taken for ready after a moment: no call that
 * follows would block. */
static void nap(int timeout_ms) {
    int ms = timeout_ms >= 0 && timeout_ms < POLLED_MS ? timeout_ms : POLLED_MS;
    struct timespec moment = {0, ms * (long)BS_NS_PER_MS};
    (void)nanosleep(&moment, NULL);
}

enum slot_of { P_OUT, P_ERR, P_IN, P_SIGNAL, P_CANCEL, P_LEADER, P_WITNESS, P_TEE, P_COUNT };

/* poll skips negative descriptors: what is of no interest is one. */
static void wait_for_events(const struct bs_run *run, struct pollfd *set, uint64_t now) {
    bool open_ended = run->phase == RUNNING || run->phase == DRAINING;
    set[P_OUT] = (struct pollfd){.fd = run->out.fd, .events = POLLIN};
    set[P_ERR] = (struct pollfd){.fd = run->err.fd, .events = POLLIN};
    set[P_IN] = (struct pollfd){.fd = run->child->feed.fd, .events = POLLOUT};
    set[P_SIGNAL] =
        (struct pollfd){.fd = open_ended ? bs_signal_fd(run->slot) : -1, .events = POLLIN};
    set[P_CANCEL] =
        (struct pollfd){.fd = run->phase == RUNNING ? cancel_fd(run) : -1, .events = POLLIN};
    set[P_LEADER] =
        (struct pollfd){.fd = run->leader_gone ? -1 : run->child->watch.fd, .events = POLLIN};
    set[P_WITNESS] = (struct pollfd){.fd = run->witness, .events = POLLIN};
    set[P_TEE] = (struct pollfd){.fd = run->outlets.tee != NULL ? bs_tee_fd(run->outlets.tee) : -1,
                                 .events = POLLOUT};
    int timeout = bs_poll_timeout(now, next_look(run, now));
    if (poll(set, P_COUNT, timeout) >= 0)
        return;
    bool refused = errno != EINTR;
    if (refused)
        nap(timeout);
    for (int i = 0; i < P_COUNT; i++)
        set[i].revents = refused && set[i].fd >= 0 ? POLLIN : 0;
}

static void read_some(struct bs_run *run, struct bs_drain *drain) {
    note_output(run, drain, bs_drain_read(drain, &run->outlets));
}

static void serve(struct bs_run *run, const struct pollfd *set) {
    if (set[P_OUT].revents != 0)
        read_some(run, &run->out);
    if (set[P_ERR].revents != 0)
        read_some(run, &run->err);
    if (set[P_IN].revents != 0)
        bs_feed_write(&run->child->feed);
    if (set[P_TEE].revents != 0)
        bs_tee_flush(run->outlets.tee);
    if (set[P_WITNESS].revents != 0)
        run->look_at = 0;
}

/* Nobody can say how the leader ended. Where somebody else collected it, its number may be a
 * stranger's by now; a pidfd still means the group that it led, and where the kernel cannot signal
 * a group by it, it can still prove that the number was not given away. */
static void end_lost_group(const struct bs_run *run) {
    const struct bs_watch *watch = &run->child->watch;
    if (!bs_watch_kill_group(watch) && bs_watch_is_uncollected(watch))
        (void)bs_group_signal(pgid(run), SIGKILL);
    bs_watch_collect(watch, BS_EXEC_KILL_MS);
}

/* One turn: wait, serve what is ready, look at the leader, take a step. True when the run is over.
 */
static bool turn(struct bs_run *run) {
    struct pollfd set[P_COUNT];
    wait_for_events(run, set, bs_now_ns());
    serve(run, set);
    uint64_t now = bs_now_ns();
    /* Asked, not inferred from the set: after a deadline too the exit is to be seen first. */
    if (set[P_LEADER].revents != 0 || run->child->watch.polled ||
        now >= earlier(run->deadline, run->until) || bs_feed_failed(&run->child->feed))
        look_at_leader(run);
    look_for_stop(run);
    if (run->cause == LOST) {
        end_lost_group(run);
        return true;
    }
    if (run->output_error != 0 && run->cause == NONE) {
        run->cause = CAPPED;
        kill_group(run, now);
    }
    if (run->phase == RUNNING)
        decide(run, now);
    else if (run->phase == GRACE || run->phase == KILLED)
        escalate(run, now);
    if (run->phase == REAPED)
        look_after_reap(run, now);
    if (run->phase != DRAINING)
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
                         .outlets = {.request = request, .tee = tee},
                         .phase = RUNNING,
                         .cause = NONE,
                         .deadline = bs_after_ms(bs_now_ns(), limit(request->timeout_ms, BS_NEVER)),
                         .until = BS_NEVER,
                         .witness = -1};
    uint64_t most = limit(request->max_output_bytes, UINT64_MAX);
    bs_drain_init(&run.out, child->out, BS_STDOUT, most);
    bs_drain_init(&run.err, child->err, BS_STDERR, most);
    child->out = child->err = -1; /* the drains have them now */
    while (!turn(&run)) {
    }
    int code = bs_report(&run, result, err);
    bs_drain_clear(&run.out);
    bs_drain_clear(&run.err);
    bs_close(&child->feed.fd);
    bs_close(&child->report);
    close_witness(&run);
    bs_watch_close(&child->watch);
    return code;
}
