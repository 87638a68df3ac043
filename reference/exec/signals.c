#define _GNU_SOURCE
#include "exec/signals.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sys.h"

/* One run that receives signals. The slots form a list that only grows: the signal handler walks
 * through it without a lock, so no slot is freed before the library is unloaded. A new run reuses
 * an idle slot. */
struct bs_signal_slot {
    struct bs_signal_slot *next; /* set before the slot is in the list */
    int fd;
    atomic_bool active;
    atomic_int first;
    atomic_uint noted[2];
};

static const int watched[2] = {SIGINT, SIGTERM};

static _Atomic(struct bs_signal_slot *) slots;
static atomic_uint in_handler;
static atomic_int owner; /* pid of the process that installed the handlers */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* `lock` protects this variable and the next one */
static unsigned active_runs;
static struct sigaction previous[2];
static bool has_fork_handlers;
static sigset_t mask_before_fork;

/* Restore the previous disposition and raise the signal again, which takes effect when the handler
 * returns. This runs in a child that was made without the fork handlers (vfork, _Fork). Such a
 * child may share memory and descriptors with its parent, so it must not note the signal. */
static void raise_previous(int signo) {
    (void)sigaction(signo, &previous[signo == SIGTERM], NULL);
    (void)raise(signo);
}

/* Note the signal in each active slot. This is async-signal-safe: it uses only lock-free atomics
 * and write(2) on a non-blocking descriptor, and keeps errno. */
static void on_signal(int signo) {
    int saved = errno;
    if (atomic_load(&owner) != getpid()) {
        raise_previous(signo);
        errno = saved;
        return;
    }
    atomic_fetch_add(&in_handler, 1);
    for (struct bs_signal_slot *slot = atomic_load(&slots); slot != NULL; slot = slot->next) {
        if (!atomic_load(&slot->active))
            continue;
        int none = 0;
        (void)atomic_compare_exchange_strong(&slot->first, &none, signo);
        atomic_fetch_add(&slot->noted[signo == SIGTERM], 1);
        static const uint64_t one = 1;
        (void)!write(slot->fd, &one, sizeof one);
    }
    atomic_fetch_sub(&in_handler, 1);
    errno = saved;
}

static void restore(int installed) {
    for (int i = installed - 1; i >= 0; i--)
        (void)sigaction(watched[i], &previous[i], NULL);
}

static sigset_t watched_set(void) {
    sigset_t set;
    (void)sigemptyset(&set);
    for (int i = 0; i < 2; i++)
        (void)sigaddset(&set, watched[i]);
    return set;
}

static int install(struct bs_error *err) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    /* SA_RESTART: the handler must not make system calls of the calling program fail with EINTR. */
    action.sa_flags = SA_RESTART;
    action.sa_mask = watched_set();
    atomic_store(&owner, getpid());
    for (int i = 0; i < 2; i++) {
        if (sigaction(watched[i], &action, &previous[i]) != 0) {
            int os_error = errno;
            restore(i);
            char buf[128];
            return bs_fail(err, BS_E_EXECUTION, os_error,
                           "failed to install the handler for %s: %s",
                           watched[i] == SIGINT ? "SIGINT" : "SIGTERM",
                           bs_os_message(os_error, buf, sizeof buf));
        }
    }
    return BS_OK;
}

/* Return an idle slot or a new one. The caller holds the lock. */
static struct bs_signal_slot *idle_slot(void) {
    struct bs_signal_slot *slot = atomic_load(&slots);
    while (slot != NULL && atomic_load(&slot->active))
        slot = slot->next;
    if (slot != NULL)
        return slot;
    slot = calloc(1, sizeof *slot);
    if (slot != NULL) {
        slot->next = atomic_load(&slots);
        atomic_store(&slots, slot);
    }
    return slot;
}

/* Prepare a slot for a new run. The caller holds the lock. */
static struct bs_signal_slot *open_slot(struct bs_error *err) {
    struct bs_signal_slot *slot = idle_slot();
    int fd = slot != NULL ? bs_open_notice() : -1;
    if (fd < 0) {
        int os_error = slot != NULL ? errno : ENOMEM;
        char buf[128];
        (void)bs_fail(err, BS_E_EXECUTION, os_error, "failed to prepare signal handling: %s",
                      bs_os_message(os_error, buf, sizeof buf));
        return NULL;
    }
    slot->fd = fd;
    atomic_store(&slot->first, 0);
    atomic_store(&slot->noted[0], 0);
    atomic_store(&slot->noted[1], 0);
    atomic_store(&slot->active, true);
    return slot;
}

/* Wait for handlers that run on other threads. A handler never blocks, so this is short. */
static void wait_for_handlers(void) {
    while (atomic_load(&in_handler) != 0)
        (void)sched_yield();
}

static void close_slot(struct bs_signal_slot *slot) {
    atomic_store(&slot->active, false);
    wait_for_handlers();
    bs_close(&slot->fd);
}

/* Hold the lock during a fork, so that parent and child see a consistent state. Also block the
 * signals. Otherwise a signal to the child could run the library's handler there: the child would
 * miss it, and the shared descriptor would wake the parent. */
static void before_fork(void) {
    sigset_t set = watched_set();
    (void)pthread_mutex_lock(&lock);
    (void)pthread_sigmask(SIG_BLOCK, &set, &mask_before_fork);
}

static void after_fork(void) {
    sigset_t mask = mask_before_fork;
    (void)pthread_mutex_unlock(&lock);
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* Reset the state in a forked child. The child has no active run, because the threads of the runs
 * stay in the parent. Async-signal-safe. */
static void after_fork_in_child(void) {
    if (active_runs > 0)
        restore(2);
    active_runs = 0;
    atomic_store(&in_handler, 0);
    for (struct bs_signal_slot *slot = atomic_load(&slots); slot != NULL; slot = slot->next) {
        if (atomic_exchange(&slot->active, false))
            bs_close(&slot->fd);
    }
    after_fork();
}

/* Install the handlers of pthread_atfork, once. The caller holds the lock. */
static int install_fork_handlers(struct bs_error *err) {
    int os_error =
        has_fork_handlers ? 0 : pthread_atfork(before_fork, after_fork, after_fork_in_child);
    char buf[128];
    if (os_error != 0)
        return bs_fail(err, BS_E_EXECUTION, os_error, "failed to prepare signal handling: %s",
                       bs_os_message(os_error, buf, sizeof buf));
    has_fork_handlers = true;
    return BS_OK;
}

struct bs_signal_slot *bs_signals_acquire(struct bs_error *err) {
    (void)pthread_mutex_lock(&lock);
    struct bs_signal_slot *slot = install_fork_handlers(err) == BS_OK ? open_slot(err) : NULL;
    if (slot != NULL && active_runs == 0 && install(err) != BS_OK) {
        close_slot(slot);
        slot = NULL;
    }
    if (slot != NULL)
        active_runs++;
    (void)pthread_mutex_unlock(&lock);
    return slot;
}

int bs_signal_fd(const struct bs_signal_slot *slot) { return slot->fd; }

int bs_signal_first(const struct bs_signal_slot *slot) { return atomic_load(&slot->first); }

void bs_signals_release(struct bs_signal_slot *slot, unsigned *sigints, unsigned *sigterms) {
    (void)pthread_mutex_lock(&lock);
    /* active_runs is already 0 in a child that was forked during the run */
    if (active_runs > 0 && --active_runs == 0)
        restore(2);
    /* A handler that began earlier may still add its signal to the slot. So wait for it before the
     * counts are read. */
    wait_for_handlers();
    close_slot(slot);
    *sigints = atomic_load(&slot->noted[0]);
    *sigterms = atomic_load(&slot->noted[1]);
    (void)pthread_mutex_unlock(&lock);
}

/* Free the slots at exit, or when the library is unloaded. If a run is active, its handler still
 * needs them. */
__attribute__((destructor)) static void free_slots(void) {
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    if (active_runs == 0) {
        struct bs_signal_slot *slot = atomic_exchange(&slots, NULL);
        while (slot != NULL) {
            struct bs_signal_slot *next = slot->next;
            free(slot);
            slot = next;
        }
    }
    (void)pthread_mutex_unlock(&lock);
}
