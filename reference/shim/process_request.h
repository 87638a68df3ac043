/* A script of steps as a request has it: decoded whole, or with all its problems noted. */
#ifndef BS_SHIM_PROCESS_REQUEST_H
#define BS_SHIM_PROCESS_REQUEST_H

#include <pthread.h>
#include <semaphore.h>

#include "shim/process_step.h"

struct bs_script_thread {
    const char *name;
    struct bs_script *script;
    sem_t handed; /* steps that may be taken */
    pthread_t thread;
    bool runs;
};

struct bs_script {
    struct bs_decoder decoder;
    struct bs_script_handle *handles;
    size_t n_handles;
    struct bs_script_step *steps;
    size_t n_steps;
    struct bs_script_thread *threads;
    size_t n_threads;
};

/* Into a script that is zero otherwise; its decoder owns all that is decoded. Starts nothing. */
void bs_script_decode(struct bs_script *script, const cJSON *request);

/* Of a name that the script has; made when it is new. */
struct bs_script_thread *bs_script_thread_of(struct bs_script *script, const char *name);

/* Whether this thread takes the step. */
bool bs_script_is_on(const struct bs_script_step *step, const char *thread);

#endif
