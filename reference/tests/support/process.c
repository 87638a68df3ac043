#include "support/process.h"

#include "support/harness.h"
#include "support/shell.h"

const struct bs_stdio piped = {BS_STDIO_PIPED, BS_STDIO_PIPED, BS_STDIO_PIPED, false};

struct bs_process *opened(const char *script) {
    struct bs_process *process = NULL;
    struct bs_error err = BS_ERROR_INIT;
    struct bs_exec_request request = SHELL(script);
    request.stdin_mode = BS_STDIN_INHERIT;
    if (bs_process_open(&request, &piped, NULL, &process, &err) != BS_OK)
        fail_msg("not opened: %s", err.message);
    return process;
}
