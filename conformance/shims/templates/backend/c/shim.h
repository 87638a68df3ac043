#ifndef SHIM_H
#define SHIM_H

#include "protocol.h"

#include <sys/types.h>

/* In shim.c, the places for your code. Lists of words end with NULL. */
extern const char name[];
extern const char *const claims[][2]; /* an aspect, and "fully" or why it is not enforced */
char **command(char **argv, const char *root, const char *scratch, const char *cwd,
               const char *profile);

/* In running.c: one run of one command, answered as `exec.run` does. */
cJSON *run(const cJSON *request, char **argv, const char *cwd, char **env);

/* In starting.c. Return the descriptor for stdin, or -1 if `input` is to be written to a pipe. */
int stdin_of(const cJSON *request, struct bytes *input);

/* Start a command; `in` is its stdin, or -1 for a pipe. Set the caller's ends of
   stdin, stdout and stderr and, if that failed, errno. */
pid_t start(char **argv, const char *cwd, char **env, int in, int ends[3], int *why_not);

/* In lists.c. */
char **joined(const char *const *first, char **second);
char **environment(const cJSON *request, const char *scratch);
char *new_folder(const char *kind);
void remove_folder(const char *folder);

/* In probe.c. `aspects_of` returns the result of backend.probe, or refuses the request. */
cJSON *aspects_of(const cJSON *backend, const cJSON *context, cJSON **refused);
cJSON *probe(const cJSON *message);

/* In session.c. */
cJSON *session(const cJSON *message);

#endif
