#define _GNU_SOURCE
#include "exec/signals.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sys.h"

/* Slots form a list that only grows: the handler walks it without a lock, so a slot and its
 * descriptor live as long as the library does and are handed from run to run. */
struct bs_signal_slot {
    struct bs_signal_slot *next; /* fixed before the slot is published */
    int fd;
    atomic_bool active;
    atomic_int first;
    atomic_uint noted[2];
};

static const int watched[2] = {SIGINT, SIGTERM};

static _Atomic(struct bs_signal_slot *) slots;
static atomic_uint in_handler;
static atomic_int owner; /* the process that installed the handlers */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by lock. */
static unsigned active_runs;
static struct sigaction previous[2];
static bool told_of_forks;
static sigset_t mask_before_fork;

/* In a child that was made past the handlers of fork (vfork, _Fork): the memory and the descriptor
 * may be the parent's, the signal is not. It comes again when this returns. */
static void hand_back(int signo) {
    (void)sigaction(signo, &previous[signo == SIGTERM], NULL);
    (void)raise(signo);
}

/* Async-signal-safe: lock-free atomics and write(2) on a non-blocking eventfd; errno is kept. */
static void on_signal(int signo) {
    int saved = errno;
    if (atomic_load(&owner) != getpid()) {
        hand_back(signo);
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
    /* SA_RESTART: the calling program's own slow calls are not to see EINTR because of us. */
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

/* Under the lock: an idle slot, or a new one. */
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

/* Under the lock. */
static struct bs_signal_slot *open_slot(struct bs_error *err) {
    struct bs_signal_slot *slot = idle_slot();
    int fd = slot != NULL ? bs_above_stdio(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) : -1;
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

/* What a handler on another thread is about to note is waited for: it never blocks, so this is
 * short. */
static void let_handlers_end(void) {
    while (atomic_load(&in_handler) != 0)
        (void)sched_yield();
}

static void close_slot(struct bs_signal_slot *slot) {
    atomic_store(&slot->active, false);
    let_handlers_end();
    bs_close(&slot->fd);
}

/* Neither side of a fork may see a state in between, and what is sent to the child must not meet
 * our handler in it: it would be swallowed there, and wake the parent through the shared eventfd.
 */
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

/* No run is active here: their threads stayed with the parent. Async-signal-safe. */
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

/* Under the lock. */
static int learn_of_forks(struct bs_error *err) {
    int os_error = told_of_forks ? 0 : pthread_atfork(before_fork, after_fork, after_fork_in_child);
    char buf[128];
    if (os_error != 0)
        return bs_fail(err, BS_E_EXECUTION, os_error, "failed to prepare signal handling: %s",
                       bs_os_message(os_error, buf, sizeof buf));
    told_of_forks = true;
    return BS_OK;
}

struct bs_signal_slot *bs_signals_acquire(struct bs_error *err) {
    (void)pthread_mutex_lock(&lock);
    struct bs_signal_slot *slot = learn_of_forks(err) == BS_OK ? open_slot(err) : NULL;
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
    /* 0 in a child that was forked in the middle of the run. */
    if (active_runs > 0 && --active_runs == 0) {
        restore(2);
        let_handlers_end(); /* while the slot is active: what they note is reported below */
    }
    close_slot(slot);
    *sigints = atomic_load(&slot->noted[0]);
    *sigterms = atomic_load(&slot->noted[1]);
    (void)pthread_mutex_unlock(&lock);
}

/* On unloading (and at exit): nothing may be in use, else everything stays for the handler. */
__attribute__((destructor)) static void forget_slots(void) {
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
