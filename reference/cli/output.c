#include "cli/output.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sys.h"
#include "cli/commands.h"

void bs_cli_pass_on(void *ctx, enum bs_stream stream, const char *data, size_t len) {
    struct bs_cli_output *output = ctx;
    int at = stream == BS_STDOUT ? 0 : 1;
    while (len > 0 && output->os_errors[at] == 0) {
        ssize_t n = (ssize_t)BS_RETRY(write(at + 1, data, len));
        if (n >= 0) {
            data += n;
            len -= (size_t)n;
        } else if (errno == EAGAIN) {
            /* Wait until stdout or stderr is writable. The descriptor may have become non-blocking,
             * because a process that shares it can change this flag. */
            struct pollfd entry = {.fd = at + 1, .events = POLLOUT};
            (void)poll(&entry, 1, -1);
        } else {
            output->os_errors[at] = errno;
        }
    }
}

static void report_processes(const struct bs_exec_result *result) {
    if (result->killed_writers)
        (void)bs_cli_wrong("a background process with an open output was killed; the end of its "
                           "output may be missing");
    if (result->detached_writers)
        (void)bs_cli_wrong("a process that left the group has an output open; its output after "
                           "the run is lost");
    if (result->group_left > 0)
        (void)bs_cli_wrong("members of the group that could not be ended: %u", result->group_left);
}

static int status_of(const struct bs_exec_result *result) {
    if (result->has_exit_code)
        return result->exit_code;
    if (result->termination == BS_ENDED_SIGNAL)
        return 128 + result->signal;
    return result->termination == BS_ENDED_TIMEOUT ? 124 : 125;
}

int bs_cli_output_status(const struct bs_cli_output *output, const struct bs_exec_result *result) {
    static const char *const names[] = {"stdout", "stderr"};
    int status = status_of(result);
    char buf[128];
    report_processes(result);
    for (int at = 0; at < 2; at++) {
        if (output->os_errors[at] == 0 || output->os_errors[at] == EPIPE)
            continue;
        (void)bs_cli_wrong("failed to pass %s on: %s", names[at],
                           bs_os_message(output->os_errors[at], buf, sizeof buf));
        status = 126;
    }
    return status;
}
