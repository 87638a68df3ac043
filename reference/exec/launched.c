#define _GNU_SOURCE
#include "exec/launched.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sys.h"

bool bs_launched_read(int report, struct bs_launch_failure *failure) {
    if (BS_RETRY(read(report, failure, sizeof *failure)) != (long)sizeof *failure)
        return false;
    failure->words[sizeof failure->words - 1] = '\0';
    return true;
}

int bs_launched_await(const struct bs_exec_request *request, int report, struct bs_error *err) {
    struct bs_launch_failure failure;
    struct pollfd entry = {.fd = report, .events = POLLIN};
    uint64_t until = bs_after_ms(bs_now_ns(), BS_LAUNCH_START_MS);
    uint64_t now = 0;
    int ready = 0;
    while (ready <= 0 && (now = bs_now_ns()) < until)
        ready = poll(&entry, 1, bs_poll_timeout(now, until));
    if (ready <= 0)
        return bs_fail(err, BS_E_EXECUTION, ETIMEDOUT,
                       "failed to spawn `%.900s`: the sandbox did not start it within %d ms",
                       request->program, BS_LAUNCH_START_MS);
    if (!bs_launched_read(report, &failure) || failure.step == BS_LAUNCH_STARTED)
        return BS_OK;
    return bs_launched_fail(request, &failure, err);
}

int bs_launched_fail(const struct bs_exec_request *request, const struct bs_launch_failure *failure,
                     struct bs_error *err) {
    char buf[128];
    const char *reason =
        failure->os_error != 0 ? bs_os_message(failure->os_error, buf, sizeof buf) : failure->words;
    if (failure->step == BS_LAUNCH_PROGRAM)
        return bs_fail(err, BS_E_EXECUTION, failure->os_error, "failed to spawn `%.900s`: %s",
                       request->program, reason);
    if (failure->step == BS_LAUNCH_DIRECTORY)
        return bs_fail(err, BS_E_EXECUTION, failure->os_error,
                       "failed to spawn `%.900s`: working directory `%.900s`: %s", request->program,
                       failure->words, reason);
    return bs_fail(
        err, BS_E_EXECUTION, failure->os_error, "failed to spawn `%.900s`: %s: %s%s%s",
        request->program, failure->step == BS_LAUNCH_STDIO ? "standard input or output" : "sandbox",
        failure->words, failure->os_error != 0 ? ": " : "", failure->os_error != 0 ? reason : "");
}
