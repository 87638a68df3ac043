#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "base/sys.h"
#include "exec/signals.h"
#include "support/harness.h"
#include "support/holdings.h"

int __real_sigaction(int signo, const struct sigaction *new_action, struct sigaction *old_action);
int __wrap_sigaction(int signo, const struct sigaction *new_action, struct sigaction *old_action);

static atomic_uint changes;

int __wrap_sigaction(int signo, const struct sigaction *new_action, struct sigaction *old_action) {
    if (new_action != NULL)
        atomic_fetch_add(&changes, 1);
    return __real_sigaction(signo, new_action, old_action);
}

static bool readable(const struct bs_signal_slot *slot) {
    struct pollfd entry = {.fd = bs_signal_fd(slot), .events = POLLIN};
    return BS_RETRY(poll(&entry, 1, 0)) == 1;
}

static void assert_released(struct bs_signal_slot *slot, unsigned sigints, unsigned sigterms) {
    unsigned got_ints = 99;
    unsigned got_terms = 99;
    bs_signals_release(slot, &got_ints, &got_terms);
    assert_int_equal(got_ints, sigints);
    assert_int_equal(got_terms, sigterms);
}

static void a_slot_without_a_signal_reports_none(void **state) {
    (void)state;
    struct bs_signal_slot *slot = bs_signals_acquire(NULL);
    assert_non_null(slot);
    assert_false(readable(slot));
    assert_int_equal(bs_signal_first(slot), 0);
    assert_released(slot, 0, 0);
}

static void the_first_signal_is_reported_and_all_are_counted(void **state) {
    (void)state;
    struct bs_signal_slot *slot = bs_signals_acquire(NULL);
    (void)raise(SIGTERM);
    (void)raise(SIGINT);
    (void)raise(SIGINT);
    assert_true(readable(slot));
    assert_int_equal(bs_signal_first(slot), SIGTERM);
    assert_released(slot, 2, 1);
}

static void one_signal_reaches_every_active_slot(void **state) {
    (void)state;
    enum { MANY = 16 };
    struct bs_signal_slot *slots[MANY];
    for (size_t i = 0; i < MANY; i++) {
        slots[i] = bs_signals_acquire(NULL);
        assert_non_null(slots[i]);
    }
    (void)raise(SIGINT);
    for (size_t i = 0; i < MANY; i++) {
        assert_true(readable(slots[i]));
        assert_int_equal(bs_signal_first(slots[i]), SIGINT);
    }
    for (size_t i = 0; i < MANY; i++)
        assert_released(slots[i], 1, 0);
}

static void a_slot_that_ends_leaves_the_handlers_to_the_others(void **state) {
    (void)state;
    atomic_store(&changes, 0);
    struct bs_signal_slot *first = bs_signals_acquire(NULL);
    struct bs_signal_slot *second = bs_signals_acquire(NULL);
    assert_int_equal(atomic_load(&changes), 2);
    assert_released(first, 0, 0);
    assert_int_equal(atomic_load(&changes), 2);
    (void)raise(SIGTERM);
    assert_int_equal(bs_signal_first(second), SIGTERM);
    assert_released(second, 0, 1);
    assert_int_equal(atomic_load(&changes), 4);
}

static void a_reused_slot_starts_empty(void **state) {
    (void)state;
    struct bs_signal_slot *slot = bs_signals_acquire(NULL);
    (void)raise(SIGINT);
    (void)raise(SIGTERM);
    assert_released(slot, 1, 1);
    slot = bs_signals_acquire(NULL);
    assert_false(readable(slot));
    assert_int_equal(bs_signal_first(slot), 0);
    assert_released(slot, 0, 0);
}

static void a_slot_does_not_receive_earlier_signals(void **state) {
    (void)state;
    struct bs_signal_slot *early = bs_signals_acquire(NULL);
    (void)raise(SIGINT);
    struct bs_signal_slot *late = bs_signals_acquire(NULL);
    assert_int_equal(bs_signal_first(late), 0);
    (void)raise(SIGTERM);
    assert_int_equal(bs_signal_first(early), SIGINT);
    assert_int_equal(bs_signal_first(late), SIGTERM);
    assert_released(early, 1, 1);
    assert_released(late, 0, 1);
}

static void descriptors_of_slots_do_not_add_up(void **state) {
    (void)state;
    struct holdings before = holdings_now();
    for (int round = 0; round < 500; round++) {
        struct bs_signal_slot *first = bs_signals_acquire(NULL);
        struct bs_signal_slot *second = bs_signals_acquire(NULL);
        assert_true(bs_signal_fd(first) > 2);
        assert_true(bs_signal_fd(second) > 2);
        assert_true(bs_signal_fd(first) != bs_signal_fd(second));
        assert_released(first, 0, 0);
        assert_released(second, 0, 0);
    }
    assert_nothing_left(before);
}

enum { WORKERS = 4, ROUNDS = 400 };
static atomic_uint wrong;
static atomic_uint finished;

static void *take_and_give(void *arg) {
    (void)arg;
    for (int round = 0; round < ROUNDS; round++) {
        unsigned sigints = 0;
        unsigned sigterms = 0;
        struct bs_signal_slot *slot = bs_signals_acquire(NULL);
        if (slot == NULL) {
            atomic_fetch_add(&wrong, 1);
            continue;
        }
        int first = bs_signal_first(slot);
        bs_signals_release(slot, &sigints, &sigterms);
        if (first == SIGINT || sigints != 0 || (first == SIGTERM && sigterms == 0))
            atomic_fetch_add(&wrong, 1);
    }
    atomic_fetch_add(&finished, 1);
    return NULL;
}

/* One slot is kept all the time, so that the handlers are installed whenever this thread raises a
 * signal. */
static void slots_come_and_go_under_a_storm_of_signals(void **state) {
    (void)state;
    struct holdings before = holdings_now();
    pthread_t workers[WORKERS];
    struct bs_signal_slot *slot = bs_signals_acquire(NULL);
    for (size_t i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&workers[i], NULL, take_and_give, NULL), 0);
    unsigned raised = 0;
    while (atomic_load(&finished) < WORKERS) {
        (void)raise(SIGTERM);
        raised++;
    }
    for (size_t i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_join(workers[i], NULL), 0);
    assert_int_equal(atomic_load(&wrong), 0);
    assert_released(slot, 0, raised);
    assert_nothing_left(before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_without_a_signal_reports_none),
        cmocka_unit_test(the_first_signal_is_reported_and_all_are_counted),
        cmocka_unit_test(one_signal_reaches_every_active_slot),
        cmocka_unit_test(a_slot_that_ends_leaves_the_handlers_to_the_others),
        cmocka_unit_test(a_reused_slot_starts_empty),
        cmocka_unit_test(a_slot_does_not_receive_earlier_signals),
        cmocka_unit_test(descriptors_of_slots_do_not_add_up),
        cmocka_unit_test(slots_come_and_go_under_a_storm_of_signals),
    };
    return cmocka_run_group_tests_name("exec/signal slots", tests, NULL, NULL);
}
