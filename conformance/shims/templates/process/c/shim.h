#ifndef SHIM_H
#define SHIM_H

#include "protocol.h"

#include <pthread.h>
#include <signal.h>
#include <sys/types.h>

/* One handle of your implementation: a running program and its streams. */
struct handle {
    const cJSON *asked;
    pid_t child;   /* 0 if the handle is not open */
    int pipes[3];  /* the caller's ends, or -1 */
    bool owned[3]; /* streams that the caller did not take */
    bool ended;    /* then `status` is that of waitpid */
    int status;
    bool stopping;           /* the group has a grace period, which its leader does not end */
    const sigset_t *inherit; /* the signal mask of the child; NULL: the shim's */
    pthread_mutex_t lock, writing;
    pthread_cond_t end;
};

/* In handle.c, the place for your code. All except init return the result of a step. */
void handle_init(struct handle *h, const cJSON *asked);
cJSON *handle_open(struct handle *h);
cJSON *handle_wait(struct handle *h, const double *limit_ms);
cJSON *handle_signal(struct handle *h, int number);
cJSON *handle_drop(struct handle *h);
void close_stream(struct handle *h, int at);

/* In starting.c. Return errno, or 0 and set the child and the caller's ends of the pipes. */
int start(struct handle *h, const cJSON *request, const int modes[3]);

/* In stopping.c. Send SIGTERM to the group, and SIGKILL after at most 1.5 s. */
void handle_stop(struct handle *h);

/* In steps.c. Take one step of a script on one handle. */
cJSON *handle_step(struct handle *h, const cJSON *step);

/* In streams.c. Write all bytes; read up to the bytes `end`, or, without them, to the end. */
cJSON *write_all(struct handle *h, struct bytes data);
cJSON *read_all(int fd, const struct bytes *end);

/* In script.c and bridge.c. */
cJSON *process_script(const cJSON *message);
cJSON *process_bridge(const cJSON *message);

#endif
