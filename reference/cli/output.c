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
            /* Wait until stdout or stderr is writable. It may be non-blocking, because a process
             * that shares it can change that. */
            struct pollfd entry = {.fd = at + 1, .events = POLLOUT};
            (void)poll(&entry, 1, -1);
        } else {
            output->os_errors[at] = errno;
        }
    }
}

int bs_cli_output_status(const struct bs_cli_output *output, int status) {
    static const char *const names[] = {"stdout", "stderr"};
    char buf[128];
    for (int at = 0; at < 2; at++) {
        if (output->os_errors[at] == 0 || output->os_errors[at] == EPIPE)
            continue;
        (void)bs_cli_wrong("failed to pass %s on: %s", names[at],
                           bs_os_message(output->os_errors[at], buf, sizeof buf));
        status = 126;
    }
    return status;
}
