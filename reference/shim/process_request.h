/* Decodes the script of a request: its threads, handles and steps. */
#ifndef BS_SHIM_PROCESS_REQUEST_H
#define BS_SHIM_PROCESS_REQUEST_H

#include <pthread.h>
#include <semaphore.h>

#include "shim/process_step.h"

struct bs_script_thread {
    const char *name;
    struct bs_script *script;
    sem_t handed; /* number of steps that the thread may run now */
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

/* Fill a script, which must be zeroed. Its decoder owns the decoded values. No program is
 * started. */
void bs_script_decode(struct bs_script *script, const cJSON *request);

/* Return the thread of that name, and add it if it is new. */
struct bs_script_thread *bs_script_thread_of(struct bs_script *script, const char *name);

/* True if the step runs on this thread. */
bool bs_script_is_on(const struct bs_script_step *step, const char *thread);

#endif
