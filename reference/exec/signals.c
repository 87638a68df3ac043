#define _GNU_SOURCE
#include "exec/signals.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
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
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by lock. */
static unsigned active_runs;
static struct sigaction previous[2];

/* Async-signal-safe: lock-free atomics and write(2) on a non-blocking eventfd; errno is kept. */
static void on_signal(int signo) {
    int saved = errno;
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

static int install(struct bs_error *err) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    /* SA_RESTART: the calling program's own slow calls are not to see EINTR because of us. */
    action.sa_flags = SA_RESTART;
    (void)sigemptyset(&action.sa_mask);
    for (int i = 0; i < 2; i++)
        (void)sigaddset(&action.sa_mask, watched[i]);
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

struct bs_signal_slot *bs_signals_acquire(struct bs_error *err) {
    (void)pthread_mutex_lock(&lock);
    struct bs_signal_slot *slot = open_slot(err);
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
    if (--active_runs == 0) {
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
