#ifndef SHIM_H
#define SHIM_H

#include "protocol.h"

#include <sys/types.h>

/* In running.c: how a program has ended. */
struct ending {
    int code;              /* exit status, or -1 */
    int why_not;           /* errno if the program could not be started */
    const char *early;     /* `Timeout` or the name of a signal to this process; otherwise NULL */
    struct bytes out, err; /* its output */
};

/* Run a program in a process group of its own, in `folder`, with `input` on its stdin. At the end
   of the limit, and after a signal to this process, the group gets SIGTERM, and SIGKILL after the
   grace period. */
struct ending run(const char *program, struct bytes input, double limit_ms, const char *folder,
                  char **env);

/* In starting.c. Start a program with three pipes. Sets `ends` to the caller's ends of the pipes.
   If the program cannot be started, sets `why_not` to the errno. */
pid_t start(const char *program, const char *folder, char **env, int ends[3], int *why_not);

/* In value.c. Return the one JSON value of an output, or NULL and the reason. cJSON takes texts
   that are not JSON, and rounds large numbers. */
const char *value_of(struct bytes output, const char **why);

/* Return the value of a field in the text of an object. */
const char *value_in(const char *object, const char *name);

/* In json.c. Return the end of the space, text or value that begins at `at`, or NULL. */
const char *space(const char *at);
const char *string_end(const char *at);
const char *value_end(const char *at, int levels);

/* In shim.c, the place for your code. */
cJSON *execute(const char *module, const char *program, const char *input, double limit_ms);
cJSON *failure(const char *class, const char *module, const char *name, const char *value);

/* In operations.c. */
cJSON *module_execute(const cJSON *message);
bool starts_a_child(const cJSON *message);

#endif
