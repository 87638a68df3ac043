/* Tests properties of the signal handlers that are not visible from outside (EXEC-SIGNAL-16). A
 * wrapper records every sigaction call of the library. */
#define _GNU_SOURCE
#include "exec/signals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/holdings.h"

int __real_sigaction(int signo, const struct sigaction *new_action, struct sigaction *old_action);
int __wrap_sigaction(int signo, const struct sigaction *new_action, struct sigaction *old_action);

static struct {
    int signo;
    struct sigaction action;
} calls[32];
static size_t n_calls;
static int refused; /* the signal for which sigaction fails; 0 if it always succeeds */

int __wrap_sigaction(int signo, const struct sigaction *new_action, struct sigaction *old_action) {
    if (new_action != NULL && signo == refused) {
        errno = EINVAL;
        return -1;
    }
    if (new_action != NULL && n_calls < LENGTH(calls)) {
        calls[n_calls].signo = signo;
        calls[n_calls++].action = *new_action;
    }
    return __real_sigaction(signo, new_action, old_action);
}

static void plain_handler(int signo) { (void)signo; }

static void info_handler(int signo, siginfo_t *info, void *context) {
    (void)signo;
    (void)info;
    (void)context;
}

enum kind { DEFAULTED, IGNORED, HANDLED, HANDLED_INFO, KINDS };

static struct sigaction action_of(enum kind kind, int blocked) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    (void)sigemptyset(&action.sa_mask);
    switch (kind) {
    case DEFAULTED:
        action.sa_handler = SIG_DFL;
        break;
    case IGNORED:
        action.sa_handler = SIG_IGN;
        break;
    case HANDLED:
        action.sa_handler = plain_handler;
        action.sa_flags = SA_NODEFER | SA_RESTART;
        (void)sigaddset(&action.sa_mask, blocked);
        break;
    default:
        action.sa_sigaction = info_handler;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        (void)sigaddset(&action.sa_mask, SIGCHLD);
        (void)sigaddset(&action.sa_mask, blocked);
        break;
    }
    return action;
}

/* Compare two masks. They are not compared under the thread sanitizer, because it blocks all
 * signals during a handler, and the mask shows this. */
static void assert_same_mask(const sigset_t *a, const sigset_t *b) {
#ifndef __SANITIZE_THREAD__
    for (int signo = 1; signo < SIGRTMIN; signo++)
        assert_int_equal(sigismember(a, signo), sigismember(b, signo));
#else
    (void)a;
    (void)b;
#endif
}

static void assert_disposition(int signo, const struct sigaction *expected) {
    static const int meant = SA_NODEFER | SA_RESTART | SA_SIGINFO | SA_ONSTACK | SA_NOCLDSTOP;
    struct sigaction now;
    assert_int_equal(__real_sigaction(signo, NULL, &now), 0);
    if ((expected->sa_flags & SA_SIGINFO) != 0)
        assert_true(now.sa_sigaction == expected->sa_sigaction);
    else
        assert_true(now.sa_handler == expected->sa_handler);
    assert_int_equal(now.sa_flags & meant, expected->sa_flags & meant);
    assert_same_mask(&now.sa_mask, &expected->sa_mask);
}

static struct bs_signal_slot *acquired(void) {
    struct bs_error err = BS_ERROR_INIT;
    n_calls = 0;
    struct bs_signal_slot *slot = bs_signals_acquire(&err);
    if (slot == NULL)
        fail_msg("%s", err.message);
    return slot;
}

static unsigned released(struct bs_signal_slot *slot) {
    unsigned sigints = 0;
    unsigned sigterms = 0;
    bs_signals_release(slot, &sigints, &sigterms);
    return sigints * 10 + sigterms;
}

static void back_to_default(void) {
    struct sigaction plain = action_of(DEFAULTED, 0);
    assert_int_equal(__real_sigaction(SIGINT, &plain, NULL), 0);
    assert_int_equal(__real_sigaction(SIGTERM, &plain, NULL), 0);
}

static void previous_dispositions_are_restored_with_flags_and_masks(void **state) {
    (void)state;
    for (enum kind first = DEFAULTED; first < KINDS; first++) {
        for (enum kind second = DEFAULTED; second < KINDS; second++) {
            struct sigaction before_int = action_of(first, SIGUSR1);
            struct sigaction before_term = action_of(second, SIGUSR2);
            assert_int_equal(__real_sigaction(SIGINT, &before_int, NULL), 0);
            assert_int_equal(__real_sigaction(SIGTERM, &before_term, NULL), 0);
            struct bs_signal_slot *slot = acquired();
            assert_int_equal(raise(SIGINT), 0);
            assert_int_equal(raise(SIGTERM), 0);
            assert_int_equal(bs_signal_first(slot), SIGINT);
            assert_int_equal(released(slot), 11);
            assert_disposition(SIGINT, &before_int);
            assert_disposition(SIGTERM, &before_term);
        }
    }
    back_to_default();
}

static void dispositions_are_restored_in_reverse_order(void **state) {
    (void)state;
    static const int order[] = {SIGINT, SIGTERM, SIGTERM, SIGINT};
    (void)released(acquired());
    assert_int_equal(n_calls, LENGTH(order));
    for (size_t i = 0; i < LENGTH(order); i++)
        assert_int_equal(calls[i].signo, order[i]);
    assert_true(calls[0].action.sa_handler == calls[1].action.sa_handler);
    assert_true(calls[0].action.sa_handler != SIG_DFL);
    assert_true(calls[2].action.sa_handler == SIG_DFL);
    assert_true(calls[3].action.sa_handler == SIG_DFL);
}

static void the_handler_restarts_calls_and_blocks_both_signals(void **state) {
    (void)state;
    (void)released(acquired());
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(calls[i].action.sa_flags, SA_RESTART);
        assert_int_equal(sigismember(&calls[i].action.sa_mask, SIGINT), 1);
        assert_int_equal(sigismember(&calls[i].action.sa_mask, SIGTERM), 1);
        assert_int_equal(sigismember(&calls[i].action.sa_mask, SIGCHLD), 0);
    }
}

static void the_handler_keeps_errno_and_never_blocks(void **state) {
    (void)state;
    struct bs_signal_slot *slot = acquired();
    /* Fill the counter of the eventfd, so that the write of the handler fails with EAGAIN. */
    const uint64_t full = UINT64_MAX - 1;
    assert_int_equal(write(bs_signal_fd(slot), &full, sizeof full), sizeof full);
    errno = EXDEV;
    (void)raise(SIGTERM);
    int after = errno;
    assert_int_equal(after, EXDEV);
    assert_int_equal(bs_signal_first(slot), SIGTERM);
    assert_int_equal(released(slot), 1);
}

static void if_the_second_handler_fails_the_first_is_restored(void **state) {
    (void)state;
    struct sigaction before_int = action_of(HANDLED_INFO, SIGUSR1);
    struct sigaction before_term = action_of(HANDLED, SIGUSR2);
    assert_int_equal(__real_sigaction(SIGINT, &before_int, NULL), 0);
    assert_int_equal(__real_sigaction(SIGTERM, &before_term, NULL), 0);
    struct holdings before = holdings_now();
    struct bs_error err = BS_ERROR_INIT;
    n_calls = 0;
    refused = SIGTERM;
    const struct bs_signal_slot *slot = bs_signals_acquire(&err);
    refused = 0;
    assert_null(slot);
    assert_int_equal(err.code, BS_E_EXECUTION);
    assert_int_equal(err.os_error, EINVAL);
    assert_non_null(strstr(err.message, "SIGTERM"));
    assert_int_equal(n_calls, 2);
    assert_int_equal(calls[1].signo, SIGINT);
    assert_disposition(SIGINT, &before_int);
    assert_disposition(SIGTERM, &before_term);
    assert_nothing_left(before);
    (void)released(acquired());
    assert_disposition(SIGINT, &before_int);
    assert_disposition(SIGTERM, &before_term);
    back_to_default();
}

static void if_the_first_handler_fails_no_disposition_changes(void **state) {
    (void)state;
    struct holdings before = holdings_now();
    struct bs_error err = BS_ERROR_INIT;
    n_calls = 0;
    refused = SIGINT;
    const struct bs_signal_slot *slot = bs_signals_acquire(&err);
    refused = 0;
    assert_null(slot);
    assert_non_null(strstr(err.message, "SIGINT"));
    assert_int_equal(n_calls, 0);
    refused = SIGINT;
    slot = bs_signals_acquire(NULL); /* works without an error struct */
    refused = 0;
    assert_null(slot);
    assert_nothing_left(before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(previous_dispositions_are_restored_with_flags_and_masks),
        cmocka_unit_test(dispositions_are_restored_in_reverse_order),
        cmocka_unit_test(the_handler_restarts_calls_and_blocks_both_signals),
        cmocka_unit_test(the_handler_keeps_errno_and_never_blocks),
        cmocka_unit_test(if_the_second_handler_fails_the_first_is_restored),
        cmocka_unit_test(if_the_first_handler_fails_no_disposition_changes),
    };
    return cmocka_run_group_tests_name("exec/signals", tests, NULL, NULL);
}
