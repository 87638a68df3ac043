#define _GNU_SOURCE
#include <boxspec/process.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/relay.h"
#include "base/sys.h"
#include "exec/signals.h"
#include "exec/sigpipe.h"
#include "exec/watch.h"
#include "process/start.h"
#include "process/watcher.h"

enum { IN, OUT, ERR, RELAYS };

struct bridge {
    struct bs_process *process;
    struct bs_relay relays[RELAYS];
    const struct bs_signal_slot *slot;
    /* pidfd of the leader; -1: there is none, so the leader is checked at intervals */
    int leader;
    bool signalled; /* the caller has received SIGINT or SIGTERM */
    struct bs_process_step step;
};

/* Close the child's descriptor of each relay that has ended. The caller's descriptors stay open. */
static void close_finished_sides(struct bridge *bridge) {
    if (bs_relay_is_done(&bridge->relays[IN]) || bridge->relays[IN].to < 0)
        bs_process_close_stream(bridge->process, 0);
    for (int i = OUT; i < RELAYS; i++) {
        if (bs_relay_is_done(&bridge->relays[i]))
            bs_process_close_stream(bridge->process, i);
    }
}

static void relay_once(struct bridge *bridge, uint64_t until, bool ended) {
    struct pollfd set[2 * RELAYS + 2];
    uint64_t now = bs_now_ns();
    uint64_t tick = bs_after_ms(now, BS_EXEC_TICK_MS);
    for (int i = 0; i < RELAYS; i++)
        bs_relay_poll(&bridge->relays[i], &set[2 * i]);
    if (ended)
        set[0].fd = set[1].fd = -1; /* the child has ended, so its stdin need not be polled */
    set[2 * RELAYS] = (struct pollfd){.fd = bridge->signalled ? -1 : bs_signal_fd(bridge->slot),
                                      .events = POLLIN};
    /* Do not poll the pidfd of a leader that has ended: it stays readable. */
    bool leader_ended = ended || bridge->step.leader_ended;
    set[2 * RELAYS + 1] =
        (struct pollfd){.fd = leader_ended ? -1 : bridge->leader, .events = POLLIN};
    if (bridge->leader < 0 && !leader_ended && tick < until)
        until = tick;
    if (poll(set, sizeof set / sizeof *set, bs_poll_timeout(now, until)) < 0)
        return;
    for (int i = 0; i < RELAYS; i++)
        bs_relay_turn(&bridge->relays[i], &set[2 * i]);
    close_finished_sides(bridge);
}

static int relay_until_end(struct bridge *bridge, struct bs_process_end *end,
                           struct bs_error *err) {
    for (;;) {
        int code = bs_process_step(bridge->process, &bridge->step, err);
        *end = bridge->step.end;
        if (code != BS_OK || end->state != BS_PROCESS_RUNS)
            return code;
        relay_once(bridge, bridge->step.at, false);
        if (!bridge->signalled && bs_signal_first(bridge->slot) != 0) {
            bridge->signalled = true;
            bs_process_start_grace(bridge->process, BS_BRIDGE_GRACE_MS);
        }
    }
}

/* Return how many more bytes the two output relays must pass on until each has passed `total`. */
static uint64_t count_missing(const struct bridge *bridge, const uint64_t total[RELAYS]) {
    uint64_t missing = 0;
    for (int i = OUT; i < RELAYS; i++) {
        const struct bs_relay *relay = &bridge->relays[i];
        if (!bs_relay_is_done(relay) && relay->passed < total[i])
            missing += total[i] - relay->passed;
    }
    return missing;
}

/* Pass on the bytes that the pipes still hold. If the reader does not read, or if a process outside
 * the group holds the pipes, this takes at most BS_EXEC_LINGER_MS. The time is extended only for
 * bytes that were written before the end of the group. */
static void relay_rest(struct bridge *bridge) {
    uint64_t until = bs_after_ms(bs_now_ns(), BS_EXEC_LINGER_MS);
    uint64_t total[RELAYS] = {0};
    for (int i = OUT; i < RELAYS; i++)
        total[i] = bridge->relays[i].passed + bs_relay_held(&bridge->relays[i]);
    while (bs_now_ns() < until &&
           (!bs_relay_is_done(&bridge->relays[OUT]) || !bs_relay_is_done(&bridge->relays[ERR]))) {
        uint64_t missing = count_missing(bridge, total);
        relay_once(bridge, until, true);
        /* Poll the signal descriptor only once: it stays readable. */
        bridge->signalled = bridge->signalled || bs_signal_first(bridge->slot) != 0;
        if (count_missing(bridge, total) < missing && !bridge->signalled)
            until = bs_after_ms(bs_now_ns(), BS_EXEC_LINGER_MS);
    }
}

static void connect_relays(struct bridge *bridge) {
    for (int i = 0; i < RELAYS; i++) {
        int child_end = bs_process_stream(bridge->process, i);
        int caller_end = fcntl(i, F_GETFD) == -1 && errno == EBADF ? -1 : i;
        bs_relay_connect(&bridge->relays[i], i == IN ? caller_end : child_end,
                         i == IN ? child_end : caller_end);
    }
    close_finished_sides(bridge);
}

/* Return an error if bytes were lost; otherwise the output would look complete. */
static int check_lost_bytes(const struct bridge *bridge, struct bs_error *err) {
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

static int serve_child(struct bridge *bridge, struct bs_watcher *watcher,
                       struct bs_process_end *end, struct bs_error *err) {
    struct bs_sigpipe guard = {0};
    bs_sigpipe_hold(&guard);
    bridge->leader = bs_pidfd(bs_process_pid(bridge->process));
    connect_relays(bridge);
    int code = relay_until_end(bridge, end, err);
    /* The group has ended and its number may be assigned to another group, so the watcher must not
     * kill it any more. */
    bs_watcher_release(watcher);
    relay_rest(bridge);
    bs_close(&bridge->leader);
    bs_sigpipe_release(&guard);
    return code == BS_OK ? check_lost_bytes(bridge, err) : code;
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
        code = serve_child(bridge, &watcher, end, err);
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
    /* `bridge` is on the heap, because its buffers are too large for the stack. */
    struct bridge *bridge = calloc(1, sizeof *bridge);
    int code = BS_OK;
    if (bridge == NULL) {
        code = bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory");
    } else {
        bridge->slot = slot;
        code = run(bridge, request, sandbox, end, err);
    }
    free(bridge);
    bs_signals_release(slot, &sigints, &sigterms);
    return code;
}
