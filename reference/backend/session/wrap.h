/* Runs a command that a backend has wrapped. */
#ifndef BS_BACKEND_SESSION_WRAP_H
#define BS_BACKEND_SESSION_WRAP_H

#include <boxspec/backend.h>

/* Run `wrapped` in place of the request's program. Returns as bs_exec_run does. */
int bs_wrapped_run(struct bs_wrapped *wrapped, const struct bs_exec_request *request,
                   struct bs_exec_result *result, struct bs_error *err);

#endif
