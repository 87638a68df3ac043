/* What is asked before anything has an effect: whether a child may be started at all. */
#ifndef BS_EXEC_ADMIT_H
#define BS_EXEC_ADMIT_H

#include <boxspec/exec.h>

/* Asks the sandbox of the request. *is_wrapped says whether it made another command of it. */
int bs_admit(const struct bs_exec_request *request, struct bs_wrapped *wrapped, bool *is_wrapped,
             struct bs_error *err);

/* Gives back to the sandbox what it wrapped, if it did; *is_wrapped is false afterwards. */
void bs_release(const struct bs_exec_request *request, struct bs_wrapped *wrapped,
                bool *is_wrapped);

/* Where the system collects children by itself, how one ended would be lost: an error then. */
int bs_check_sigchld(struct bs_error *err);

#endif
