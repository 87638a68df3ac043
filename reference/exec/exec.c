#define _GNU_SOURCE
#include "exec/exec.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "exec/admit.h"
#include "exec/report.h"
#include "exec/signals.h"
#include "exec/sigpipe.h"
#include "exec/spawn.h"
#include "exec/supervise.h"
#include "exec/tee.h"

static int interrupted_before_spawn(int signo, struct bs_exec_result *result,
                                    struct bs_error *err) {
    struct bs_buf text = BS_BUF_INIT;
    if (!bs_annotate_signal(&text, signo)) {
        bs_buf_clear(&text);
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory");
    }
    result->termination = BS_ENDED_PARENT_SIGNAL;
    result->signal = signo;
    result->has_exit_code = true;
    result->exit_code = 128 + signo;
    result->err = bs_buf_take(&text);
    return BS_OK;
}

static int spawn_and_supervise(const struct bs_exec_request *request,
                               const struct bs_wrapped *wrapped, const struct bs_signal_slot *slot,
                               struct bs_exec_result *result, struct bs_error *err) {
    int signo = bs_signal_first(slot);
    if (signo != 0)
        return interrupted_before_spawn(signo, result, err);
    struct bs_tee tee;
    if (request->debug && bs_tee_init(&tee, request->env, request->n_env) != 0)
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory");
    struct bs_child child;
    int code = bs_spawn(request, wrapped, NULL, &child, err);
    if (code == BS_OK) {
        /* SIGPIPE is blocked only after the spawn, so that the child gets the signal mask of the
         * caller. */
        struct bs_sigpipe guard = {0};
        if (request->debug || request->stdin_mode == BS_STDIN_BYTES)
            bs_sigpipe_hold(&guard);
        /* While the child has the terminal, the caller is in the background. Under `stty tostop`
         * writing the debug copy to the terminal would then stop the caller. */
        sigset_t mask;
        bool in_background = child.terminal.lent;
        if (in_background)
            bs_terminal_block_output_stop(&mask);
        code = bs_supervise(request, &child, slot, request->debug ? &tee : NULL, result, err);
        bs_terminal_take_back(&child.terminal);
        if (in_background)
            (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
        if (request->debug)
            bs_tee_finish(&tee);
        bs_sigpipe_release(&guard);
    } else if (request->debug) {
        bs_tee_finish(&tee);
    }
    return code;
}

/* Return the signals that arrived, except the one that the result already names. */
static unsigned pending(const struct bs_exec_result *result, unsigned sigints, unsigned sigterms) {
    if (result->termination == BS_ENDED_PARENT_SIGNAL && result->signal == SIGINT)
        sigints--;
    if (result->termination == BS_ENDED_PARENT_SIGNAL && result->signal == SIGTERM)
        sigterms--;
    return (sigints > 0 ? BS_PENDING_SIGINT : 0) | (sigterms > 0 ? BS_PENDING_SIGTERM : 0);
}

int bs_exec_run_with(const struct bs_exec_request *request, const struct bs_signal_slot *slot,
                     struct bs_exec_result *result, struct bs_error *err) {
    *result = (struct bs_exec_result)BS_EXEC_RESULT_INIT;
    struct bs_wrapped wrapped = {0};
    bool is_wrapped = false;
    int code = bs_admit(request, &wrapped, &is_wrapped, err);
    if (code != BS_OK)
        return code;
    uint64_t start = bs_now_ns();
    unsigned sigints = 0;
    unsigned sigterms = 0;
    struct bs_signal_slot *own = NULL;
    code = bs_check_sigchld(err);
    if (code == BS_OK && slot == NULL) {
        slot = own = bs_signals_acquire(err);
        code = own != NULL ? BS_OK : BS_E_EXECUTION;
    }
    if (code == BS_OK)
        code = spawn_and_supervise(request, is_wrapped ? &wrapped : NULL, slot, result, err);
    if (own != NULL)
        bs_signals_release(own, &sigints, &sigterms);
    bs_release(request, &wrapped, &is_wrapped);
    if (code != BS_OK) {
        bs_exec_result_clear(result);
        return code;
    }
    if (own != NULL)
        result->pending_signals = pending(result, sigints, sigterms);
    result->duration_ms = (bs_now_ns() - start) / BS_NS_PER_MS;
    return BS_OK;
}

int bs_exec_run(const struct bs_exec_request *request, struct bs_exec_result *result,
                struct bs_error *err) {
    return bs_exec_run_with(request, NULL, result, err);
}

int bs_exec_result_text(struct bs_exec_result *result) {
    int code = bs_bytes_to_text(&result->out);
    return code == BS_OK ? bs_bytes_to_text(&result->err) : code;
}

void bs_exec_result_clear(struct bs_exec_result *result) {
    bs_bytes_clear(&result->out);
    bs_bytes_clear(&result->err);
    *result = (struct bs_exec_result)BS_EXEC_RESULT_INIT;
}
