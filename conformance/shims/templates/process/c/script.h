#ifndef SCRIPT_H
#define SCRIPT_H

#include "shim.h"

/* A script. Each named thread takes its steps in order, while the script goes on. */
struct script {
    const cJSON *names, *steps; /* the handles by name, and all steps */
    struct handle *handles;     /* in the order of their names */
    cJSON **results;            /* of all steps */
    int reached;                /* number of the step that the script has reached */
    pthread_mutex_t lock;
    pthread_cond_t step;
};

struct worker {
    struct worker *next;
    struct script *script;
    const char *name;
    pthread_t thread;
    bool joined;
};

/* In script.c. Take one step; return its result or its error. */
cJSON *take_step(struct script *script, const cJSON *step);
bool is(const cJSON *step, const char *name, const char *value);

/* In workers.c. Set the step that the script has reached; start the thread of a name at its first
   step. */
void reach(struct script *script, int at);
struct worker *worker_of(struct script *script, struct worker **workers, const char *name);

#endif
