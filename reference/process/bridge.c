#define _GNU_SOURCE
#include <boxspec/process.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sys.h"
#include "exec/group.h"
#include "exec/signals.h"
#include "exec/sigpipe.h"
#include "exec/watch.h"
#include "process/relay.h"
#include "process/start.h"
#include "process/watcher.h"

enum { IN, OUT, ERR, RELAYS };

struct bridge {
    struct bs_process *process;
    struct bs_relay relays[RELAYS];
    const struct bs_signal_slot *slot;
    int leader; /* pidfd, -1 where there is none: then it is asked for every tick */
    bool closing;
    bool killed;
    uint64_t until;   /* of the grace, and then of the last output */
    uint64_t step_at; /* when the end of the group goes on; 0 while the leader runs */
    uint64_t look_at; /* when to look for members that use the grace; 0 while the leader runs */
};

/* A side of a relay that has ended: the child is to see it, the caller's own stay as they are. */
static void end_sides(struct bridge *bridge) {
    if (bs_relay_is_done(&bridge->relays[IN]) || bridge->relays[IN].to < 0)
        bs_process_close_stream(bridge->process, 0);
    for (int i = OUT; i < RELAYS; i++) {
        if (bs_relay_is_done(&bridge->relays[i]))
            bs_process_close_stream(bridge->process, i);
    }
}

static void pass_on(struct bridge *bridge, uint64_t until, bool ended) {
    struct pollfd set[2 * RELAYS + 2];
    uint64_t now = bs_now_ns();
    uint64_t tick = bs_after_ms(now, BS_EXEC_TICK_MS);
    for (int i = 0; i < RELAYS; i++)
        bs_relay_poll(&bridge->relays[i], &set[2 * i]);
    if (ended)
        set[0].fd = set[1].fd = -1; /* there is nobody to write to */
    set[2 * RELAYS] =
        (struct pollfd){.fd = bridge->closing ? -1 : bs_signal_fd(bridge->slot), .events = POLLIN};
    /* The descriptor of a leader that has ended stays readable. */
    bool leader_ended = ended || bridge->look_at != 0 || bridge->step_at != 0;
    set[2 * RELAYS + 1] =
        (struct pollfd){.fd = leader_ended ? -1 : bridge->leader, .events = POLLIN};
    if (bridge->step_at != 0 && bridge->step_at < until && !ended)
        until = bridge->step_at;
    if (((bridge->leader < 0 && !ended) || bridge->look_at != 0) && tick < until)
        until = tick;
    if (poll(set, sizeof set / sizeof *set, bs_poll_timeout(now, until)) < 0)
        return;
    for (int i = 0; i < RELAYS; i++)
        bs_relay_turn(&bridge->relays[i], &set[2 * i]);
    end_sides(bridge);
}

/* SIGTERM once, for those who are stopped too; SIGKILL when the grace is over. */
static void escalate(struct bridge *bridge) {
    uint64_t now = bs_now_ns();
    if (!bridge->closing && bs_signal_first(bridge->slot) != 0) {
        bridge->closing = true;
        bridge->until = bs_after_ms(now, BS_BRIDGE_GRACE_MS);
        (void)bs_process_terminate(bridge->process, NULL);
        (void)bs_process_continue(bridge->process, NULL);
    } else if (bridge->closing && !bridge->killed && now >= bridge->until) {
        bridge->killed = true;
        bridge->until = BS_NEVER;
        (void)bs_process_kill(bridge->process, NULL);
    }
}

/* Whether the leader has ended and members of its group may live on: nothing is ended by this look,
 * and where nobody can be looked for, the grace is kept. */
static bool leaves_members(pid_t leader) {
    siginfo_t info = {0};
    if (BS_RETRY(waitid(P_PID, (id_t)leader, &info, WEXITED | WNOHANG | WNOWAIT)) != 0 ||
        info.si_pid == 0)
        return false;
    struct bs_members members = bs_group_look(leader, leader, UINT64_MAX);
    return !members.known || members.alive > 0;
}

/* The grace is the group's: members may use it when the leader has gone. */
static bool members_use_the_grace(struct bridge *bridge) {
    uint64_t now = bs_now_ns();
    if (!bridge->closing || bridge->killed)
        bridge->look_at = 0;
    else if (now >= bridge->look_at)
        bridge->look_at =
            leaves_members(bs_process_pid(bridge->process)) ? bs_after_ms(now, BS_EXEC_TICK_MS) : 0;
    return bridge->look_at != 0;
}

static int until_the_end(struct bridge *bridge, struct bs_process_end *end, struct bs_error *err) {
    static const uint64_t at_once = 0;
    int code = BS_OK;
    for (;;) {
        if (!members_use_the_grace(bridge)) {
            code = bs_process_wait(bridge->process, &at_once, end, err);
            if (code != BS_OK || end->state != BS_PROCESS_RUNS)
                return code;
        }
        bridge->step_at = bs_process_next_step(bridge->process);
        pass_on(bridge, bridge->until, false);
        escalate(bridge);
    }
}

/* What is left of `whole`, counts of what each relay will have passed on with it. */
static uint64_t still_owed(const struct bridge *bridge, const uint64_t whole[RELAYS]) {
    uint64_t owed = 0;
    for (int i = OUT; i < RELAYS; i++) {
        const struct bs_relay *relay = &bridge->relays[i];
        if (!bs_relay_is_done(relay) && relay->passed < whole[i])
            owed += whole[i] - relay->passed;
    }
    return owed;
}

/* What the pipes still hold is passed on; a reader that has stopped, or a stranger who holds them,
 * is waited for only so long. What a stranger writes behind the group's end gains no time. */
static void pass_the_rest_on(struct bridge *bridge) {
    uint64_t until = bs_after_ms(bs_now_ns(), BS_EXEC_LINGER_MS);
    uint64_t whole[RELAYS] = {0};
    for (int i = OUT; i < RELAYS; i++)
        whole[i] = bridge->relays[i].passed + bs_relay_held(&bridge->relays[i]);
    while (bs_now_ns() < until &&
           (!bs_relay_is_done(&bridge->relays[OUT]) || !bs_relay_is_done(&bridge->relays[ERR]))) {
        uint64_t owed = still_owed(bridge, whole);
        pass_on(bridge, until, true);
        /* A signal is looked at once: its descriptor stays readable. */
        bridge->closing = bridge->closing || bs_signal_first(bridge->slot) != 0;
        if (still_owed(bridge, whole) < owed && !bridge->closing)
            until = bs_after_ms(bs_now_ns(), BS_EXEC_LINGER_MS);
    }
}

static void connect_relays(struct bridge *bridge) {
    for (int i = 0; i < RELAYS; i++) {
        int ours = bs_process_stream(bridge->process, i);
        int theirs = fcntl(i, F_GETFD) == -1 && errno == EBADF ? -1 : i;
        bs_relay_connect(&bridge->relays[i], i == IN ? theirs : ours, i == IN ? ours : theirs);
    }
    end_sides(bridge);
}

/* An end that says nothing of lost bytes would call the rest the whole. */
static int nothing_was_lost(const struct bridge *bridge, struct bs_error *err) {
    static const char *const names[RELAYS] = {"stdin", "stdout", "stderr"};
    char buf[128];
    for (int i = 0; i < RELAYS; i++) {
        int os_error = bridge->relays[i].os_error;
        if (os_error != 0)
            return bs_fail(err, BS_E_EXECUTION, os_error, "failed to pass %s on: %s", names[i],
                           bs_os_message(os_error, buf, sizeof buf));
    }
    return BS_OK;
}

static int talk(struct bridge *bridge, struct bs_watcher *watcher, struct bs_process_end *end,
                struct bs_error *err) {
    struct bs_sigpipe guard = {0};
    bs_sigpipe_hold(&guard);
    bridge->leader = bs_pidfd(bs_process_pid(bridge->process));
    connect_relays(bridge);
    int code = until_the_end(bridge, end, err);
    /* Nobody is left to be killed, and from here on the number may be a stranger's. */
    bs_watcher_release(watcher);
    pass_the_rest_on(bridge);
    bs_close(&bridge->leader);
    bs_sigpipe_release(&guard);
    return code == BS_OK ? nothing_was_lost(bridge, err) : code;
}

static int run(struct bridge *bridge, const struct bs_exec_request *request,
               const struct bs_sandbox *sandbox, struct bs_process_end *end, struct bs_error *err) {
    static const struct bs_stdio piped = {BS_STDIO_PIPED, BS_STDIO_PIPED, BS_STDIO_PIPED, true};
    struct bs_watcher watcher = BS_WATCHER_INIT;
    char buf[128];
    int os_error = bs_watcher_start(&watcher);
    if (os_error != 0)
        return bs_fail(err, BS_E_EXECUTION, os_error, "failed to start the watcher: %s",
                       bs_os_message(os_error, buf, sizeof buf));
    int code = bs_process_start(request, &piped, sandbox, watcher.fd, &bridge->process, err);
    if (code == BS_OK) {
        code = talk(bridge, &watcher, end, err);
        bs_process_drop(bridge->process);
    }
    bs_watcher_release(&watcher);
    return code;
}

int bs_process_bridge(const struct bs_exec_request *request, const struct bs_sandbox *sandbox,
                      struct bs_process_end *end, struct bs_error *err) {
    unsigned sigints = 0;
    unsigned sigterms = 0;
    *end = (struct bs_process_end){BS_PROCESS_RUNS, 0};
    struct bs_signal_slot *slot = bs_signals_acquire(err);
    if (slot == NULL)
        return BS_E_EXECUTION;
    /* The buffers are too large for a stack. */
    struct bridge *bridge = calloc(1, sizeof *bridge);
    int code = BS_OK;
    if (bridge == NULL) {
        code = bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory");
    } else {
        bridge->slot = slot;
        bridge->until = BS_NEVER;
        code = run(bridge, request, sandbox, end, err);
    }
    free(bridge);
    bs_signals_release(slot, &sigints, &sigterms);
    return code;
}
