/* Makes requests that run short shell scripts, which most tests of a run need. */
#ifndef BS_TESTS_SHELL_H
#define BS_TESTS_SHELL_H

#include <boxspec/exec.h>

/* A request for /bin/sh -c SCRIPT with an empty stdin. The request is valid as long as the
 * enclosing block. */
#define SHELL(script) shell_request((const char *[]){"-c", script})

struct bs_exec_request shell_request(const char *const *args);

/* Run a request. Fails the test if the run returns an error. */
struct bs_exec_result run_to_result(const struct bs_exec_request *request);

/* Run a request. Fails the test unless the run returns this error code and an empty result. */
struct bs_error run_to_error(const struct bs_exec_request *request, int code);

/* Fail the test unless the bytes are exactly this text. */
void assert_text(const struct bs_bytes *bytes, const char *text);

#endif
