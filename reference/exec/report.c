#define _GNU_SOURCE
#include "exec/report.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "exec/launched.h"

static void annotate(struct bs_buf *text, const char *words) {
    if (text->len > 0)
        bs_buf_char(text, '\n');
    bs_buf_str(text, words);
}

static void annotate_stop(struct bs_buf *text, int signo) {
    annotate(text, signo == SIGTTIN ? "process stopped by signal SIGTTIN"
                                    : "process stopped by signal SIGTTOU");
}

bool bs_annotate_signal(struct bs_buf *text, int signo) {
    annotate(text, signo == SIGINT ? "process interrupted by signal SIGINT"
                                   : "process interrupted by signal SIGTERM");
    return !text->failed;
}

static void report_exit(const struct bs_run *run, struct bs_exec_result *result) {
    if (run->end.si_code == CLD_EXITED) {
        result->termination = BS_ENDED_EXIT;
        result->has_exit_code = true;
        result->exit_code = run->end.si_status & 0xFF;
        result->success = result->exit_code == 0;
        return;
    }
    result->termination = BS_ENDED_SIGNAL;
    result->signal = run->end.si_status;
}

static int report_result(struct bs_run *run, struct bs_exec_result *result, struct bs_error *err) {
    struct bs_buf *text = &run->err.kept;
    bs_drain_finish(&run->out);
    bs_drain_finish(&run->err);
    switch (run->cause) {
    case DEADLINE:
        result->termination = BS_ENDED_TIMEOUT;
        annotate(text, "process timed out");
        break;
    case SIGNALLED:
        result->termination = BS_ENDED_PARENT_SIGNAL;
        result->signal = run->signo;
        result->has_exit_code = true;
        result->exit_code = 128 + run->signo;
        (void)bs_annotate_signal(text, run->signo);
        break;
    case CANCELLED:
        result->termination = BS_ENDED_CANCEL;
        annotate(text, "process cancelled");
        break;
    case STOPPED:
        result->termination = BS_ENDED_SIGNAL;
        result->signal = run->stopped_by;
        annotate_stop(text, run->stopped_by);
        break;
    case CAPPED:
        result->termination = BS_ENDED_CAP;
        break;
    default:
        report_exit(run, result);
        break;
    }
    if (run->output_error == ENOMEM || text->failed)
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for the output of `%.900s`",
                       run->request->program);
    char buf[128];
    if (run->output_error != 0)
        return bs_fail(err, BS_E_EXECUTION, run->output_error, "failed to read %s: %s",
                       run->output_lost == BS_STDOUT ? "stdout" : "stderr",
                       bs_os_message(run->output_error, buf, sizeof buf));
    result->truncated = (run->out.over ? BS_STDOUT : 0U) | (run->err.over ? BS_STDERR : 0U);
    result->detached_writers = run->detached_writers;
    result->killed_writers = run->killed_writers;
    result->unfinished = run->unfinished;
    result->group_left = run->group.left;
    result->usage = run->usage;
    result->out = bs_buf_take(&run->out.kept);
    result->err = bs_buf_take(text);
    return BS_OK;
}

/* Read the record of the launcher, and return true if it is a failure. A record that is no failure
 * says that the launcher killed a process that held an output. A launcher that cannot start the
 * program ends early, so writing the payload fails as well. The record is then reported and not the
 * failed write, because the record has the cause. */
static bool launch_failed(struct bs_run *run, struct bs_launch_failure *failure) {
    if (run->child->report < 0 || (run->cause != EXITED && run->cause != STDIN_FAILED))
        return false;
    if (!bs_launched_read(run->child->report, failure))
        return false;
    if (failure->step != BS_LAUNCH_KILLED_WRITERS)
        return true;
    run->killed_writers = true;
    /* a record without outputs does not say which of them is complete */
    run->unfinished |= failure->outputs != 0 ? failure->outputs : BS_STDOUT | BS_STDERR;
    return false;
}

int bs_report(struct bs_run *run, struct bs_exec_result *result, struct bs_error *err) {
    char buf[128];
    struct bs_launch_failure failure;
    if (launch_failed(run, &failure))
        return bs_launched_fail(run->request, &failure, err);
    if (run->cause == LOST)
        return bs_fail(err, BS_E_EXECUTION, run->lost_error, "wait timeout error: %s",
                       bs_os_message(run->lost_error, buf, sizeof buf));
    if (run->cause == STDIN_FAILED)
        return bs_fail(err, BS_E_EXECUTION, run->child->feed.os_error, "failed to write stdin: %s",
                       bs_os_message(run->child->feed.os_error, buf, sizeof buf));
    return report_result(run, result, err);
}
