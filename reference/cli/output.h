/* Output of a program, passed on as it comes. */
#ifndef BS_CLI_OUTPUT_H
#define BS_CLI_OUTPUT_H

#include <boxspec/exec.h>

/* What went wrong on stdout and on stderr: an errno each. */
struct bs_cli_output {
    int os_errors[2];
};

/* For on_output; ctx is a struct bs_cli_output. Waits for whoever reads. Behind an error the rest
 * of that stream is dropped, and the run itself goes on. */
void bs_cli_pass_on(void *ctx, enum bs_stream stream, const char *data, size_t len);

/* `status`, or 126 and a message on stderr where output was lost. A reader that has gone away has
 * lost nothing. */
int bs_cli_output_status(const struct bs_cli_output *output, int status);

#endif
