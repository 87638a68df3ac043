#define _GNU_SOURCE
#include "exec/report.h"

#include <errno.h>

#include "base/error.h"

static void annotate(struct bs_buf *text, const char *words) {
    if (text->len > 0)
        bs_buf_char(text, '\n');
    bs_buf_str(text, words);
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
    case CAPPED:
        result->termination = BS_ENDED_CAP;
        break;
    default:
        report_exit(run, result);
        break;
    }
    if (run->out_of_memory || text->failed)
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for the output of `%.900s`",
                       run->request->program);
    result->truncated = (run->out.over ? BS_STDOUT : 0U) | (run->err.over ? BS_STDERR : 0U);
    result->detached_writers = run->detached_writers;
    result->group_left = run->group_left;
    result->usage = run->usage;
    result->out = bs_buf_take(&run->out.kept);
    result->err = bs_buf_take(text);
    return BS_OK;
}

int bs_report(struct bs_run *run, struct bs_exec_result *result, struct bs_error *err) {
    char buf[128];
    if (run->cause == LOST) {
        /* Somebody else collected the leader, so its number may be a stranger's by now; a pidfd
         * still means the group that it led. */
        bs_watch_kill_group(&run->child->watch);
        return bs_fail(err, BS_E_EXECUTION, run->lost_error, "wait timeout error: %s",
                       bs_os_message(run->lost_error, buf, sizeof buf));
    }
    if (run->cause == STDIN_FAILED)
        return bs_fail(err, BS_E_EXECUTION, run->child->feed.os_error, "failed to write stdin: %s",
                       bs_os_message(run->child->feed.os_error, buf, sizeof buf));
    return report_result(run, result, err);
}
