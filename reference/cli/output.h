/* Passes on the output of a program while it runs. */
#ifndef BS_CLI_OUTPUT_H
#define BS_CLI_OUTPUT_H

#include <boxspec/exec.h>

/* The errno of the first failed write to stdout and to stderr; 0 if no write failed. */
struct bs_cli_output {
    int os_errors[2];
};

/* For on_output; ctx is a struct bs_cli_output. Waits for a slow reader. After an error the rest of
 * that stream is dropped, and the run continues. */
void bs_cli_pass_on(void *ctx, enum bs_stream stream, const char *data, size_t len);

/* Return `status`, or 126 after printing a message if output was lost. Output after its reader has
 * closed the pipe does not count as lost. */
int bs_cli_output_status(const struct bs_cli_output *output, int status);

#endif
