/* Passes on the output of a program while it runs. */
#ifndef BS_CLI_OUTPUT_H
#define BS_CLI_OUTPUT_H

#include <boxspec/exec.h>

/* The errno of the first failed write to stdout and to stderr; 0 if no write failed. */
struct bs_cli_output {
    int os_errors[2];
};

/* Pass on the output. This is for on_output, with a struct bs_cli_output as ctx. It waits for a
 * slow reader. After an error the rest of that stream is dropped, and the run continues. */
void bs_cli_pass_on(void *ctx, enum bs_stream stream, const char *data, size_t len);

/* Return the exit status of this command: 126 if output could not be passed on, 124 after a
 * timeout, 125 after too much output, 128 + N after signal N, and otherwise that of the program. If
 * the reader has closed the pipe, this does not count as a failed write.
 *
 * Also print a message about each failed write, and about processes that held the output or could
 * not be ended. */
int bs_cli_output_status(const struct bs_cli_output *output, const struct bs_exec_result *result);

#endif
