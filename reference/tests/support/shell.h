/* Requests for a few words of shell: most of what a run has to survive can be said in them. */
#ifndef BS_TESTS_SHELL_H
#define BS_TESTS_SHELL_H

#include <boxspec/exec.h>

/* A request for /bin/sh -c SCRIPT with nothing on stdin; lives as long as the enclosing block. */
#define SHELL(script) shell_request((const char *[]){"-c", script})

struct bs_exec_request shell_request(const char *const *args);

/* Runs it and fails the test unless there is a result. */
struct bs_exec_result run_to_result(const struct bs_exec_request *request);

/* Runs it and fails the test unless there is an error with this code and an empty result. */
struct bs_error run_to_error(const struct bs_exec_request *request, int code);

/* The stream holds exactly this text. */
void assert_text(const struct bs_bytes *bytes, const char *text);

#endif
