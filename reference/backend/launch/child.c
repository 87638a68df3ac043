/* Starts a child that shares the memory of the launcher, as vfork does. Copying the memory and
 * freeing the copy would take longer than all confinement steps together. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>

#include "backend/launch/launch.h"

pid_t start_child(int (*run)(void *ctx), void *ctx) {
    /* The child needs its own stack; otherwise it would overwrite the frames of the caller. */
    static _Alignas(16) char stack[64 * 1024];
    return clone(run, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, ctx);
}
