/* The named threads of a script. This file needs no change. */
#include "script.h"

#include <string.h>

static void *work(void *given) {
    struct worker *me = given;
    struct script *script = me->script;
    int at = -1;
    const cJSON *step;
    cJSON_ArrayForEach(step, script->steps) {
        at++;
        if (!is(step, "thread", me->name))
            continue;
        if (is(step, "step", "join"))
            break;
        pthread_mutex_lock(&script->lock);
        while (script->reached < at)
            pthread_cond_wait(&script->step, &script->lock);
        pthread_mutex_unlock(&script->lock);
        script->results[at] = take_step(script, step);
    }
    return NULL;
}

void reach(struct script *script, int at) {
    pthread_mutex_lock(&script->lock);
    script->reached = at;
    pthread_cond_broadcast(&script->step);
    pthread_mutex_unlock(&script->lock);
}

struct worker *worker_of(struct script *script, struct worker **workers, const char *name) {
    struct worker *found = *workers;
    while (found && strcmp(found->name, name) != 0)
        found = found->next;
    if (!found) {
        found = allocate(sizeof *found);
        *found = (struct worker){*workers, script, name, 0, false};
        *workers = found;
        pthread_create(&found->thread, NULL, work, found);
    }
    return found;
}
