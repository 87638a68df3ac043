/* Checks that come before any effect of a run: the sandbox's own checks, and SIGCHLD. */
#ifndef BS_EXEC_ADMIT_H
#define BS_EXEC_ADMIT_H

#include <boxspec/exec.h>

/* Let the sandbox of the request validate the request and wrap its command. *is_wrapped becomes
 * true if the sandbox replaced the command. */
int bs_admit(const struct bs_exec_request *request, struct bs_wrapped *wrapped, bool *is_wrapped,
             struct bs_error *err);

/* Call the sandbox's unwrap if *is_wrapped is true, and set it to false. */
void bs_release(const struct bs_exec_request *request, struct bs_wrapped *wrapped,
                bool *is_wrapped);

/* Return an error if the kernel reaps children itself (SIGCHLD ignored or SA_NOCLDWAIT): the exit
 * status of the child would be lost. */
int bs_check_sigchld(struct bs_error *err);

#endif
