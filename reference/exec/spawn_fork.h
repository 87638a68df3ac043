/* Start a child by fork, if posix_spawn cannot: the child must write its pid or take the terminal
 * between fork and exec, or a host's filter answers EPERM to clone3. The C library's posix_spawn
 * passes that EPERM on, while fork() still works through clone. */
#ifndef BS_EXEC_SPAWN_FORK_H
#define BS_EXEC_SPAWN_FORK_H

#include <stdbool.h>
#include <sys/types.h>

/* Pointers belong to the caller. Descriptors are above 2 or -1. */
struct bs_spawn_args {
    const char *path;
    char *const *argv;
    char *const *envp;
    int cwd;
    int in;
    int out;
    int err;
    int report;          /* of a launcher, which leads a session */
    int announce;        /* receives the child's pid_t once the child leads its group */
    bool takes_terminal; /* its group becomes the foreground group of the terminal at 0 */
};

/* True if clone3 is refused with EPERM. The call has invalid arguments: a kernel that looks at them
 * answers EINVAL. */
bool bs_clone3_refused(void);

/* The steps of the child before it executes the program. posix_spawn does not say which one failed.
 */
enum bs_spawn_step {
    BS_STEP_NONE, /* not known, or the program itself */
    BS_STEP_GROUP,
    BS_STEP_ANNOUNCE,
    BS_STEP_DIRECTORY,
    BS_STEP_STDIN,
    BS_STEP_STDOUT,
    BS_STEP_STDERR,
    BS_STEP_REPORT
};

/* Start the child. Returns 0 or an errno, which may be the child's own; *step says where it failed.
 */
int bs_spawn_fork(const struct bs_spawn_args *spawn, pid_t *pid, enum bs_spawn_step *step);

#endif
