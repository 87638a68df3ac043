/* Starts a child by fork, for two cases in which posix_spawn does not work. First, the child must
 * write its pid or take the terminal between fork and exec. Second, a seccomp filter of the host
 * answers EPERM to clone3: posix_spawn fails with it, while fork() uses clone instead. */
#ifndef BS_EXEC_SPAWN_FORK_H
#define BS_EXEC_SPAWN_FORK_H

#include <stdbool.h>
#include <sys/types.h>

/* The caller owns all pointers. Descriptors are above 2, or -1. */
struct bs_spawn_args {
    const char *path;
    char *const *argv;
    char *const *envp;
    int cwd;
    int in;
    int out;
    int err;
    int report;   /* report pipe of a launcher, which then leads a session; -1 without one */
    int announce; /* the child writes its pid_t to it once it leads its group */
    /* make the child's group the foreground group of the terminal that is its stdin */
    bool takes_terminal;
};

/* True if a filter refuses clone3 with EPERM. The arguments of the test call are invalid, so a
 * kernel that executes the call answers EINVAL. */
bool bs_clone3_refused(void);

/* Steps that the child takes before it executes the program, for the error message. posix_spawn
 * cannot report which step failed. */
enum bs_spawn_step {
    BS_STEP_NONE, /* the step is not known, or the program could not be executed */
    BS_STEP_GROUP,
    BS_STEP_ANNOUNCE,
    BS_STEP_DIRECTORY,
    BS_STEP_STDIN,
    BS_STEP_STDOUT,
    BS_STEP_STDERR,
    BS_STEP_REPORT
};

/* Start the child. Returns 0 or an errno, which may come from the child; *step tells which step
 * failed. */
int bs_spawn_fork(const struct bs_spawn_args *spawn, pid_t *pid, enum bs_spawn_step *step);

#endif
