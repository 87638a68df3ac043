/* The interface between a run and a sandbox.
 *
 *   1. A caller of bs_exec_run, bs_process_open or bs_module_execute passes a struct bs_sandbox.
 *   2. `validate` accepts or refuses the request.
 *   3. `wrap` replaces the command of the request by another one, for example by a launcher that
 *      confines itself and then executes the program. bs_exec_run itself confines no process.
 *   4. `unwrap` frees what `wrap` made, after the run or after a failed start.
 *
 * boxspec/backend.h provides such sandboxes. A program may also fill the struct with its own
 * functions. */
#ifndef BOXSPEC_SANDBOX_H
#define BOXSPEC_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include <boxspec/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bs_env_pair;     /* defined in exec.h */
struct bs_exec_request; /* defined in exec.h */

/* The command and environment that replace those of a request. */
struct bs_wrapped {
    const char *const *argv; /* NULL-terminated, at least one entry; argv[0] is the program */
    const struct bs_env_pair *env;
    size_t n_env; /* these variables are set last, so they override those of the request */
    /* The child inherits no variable of the caller, even with BS_ENV_INHERIT. */
    bool clears_env;
    /* True if argv[0] is a launcher, which starts the program of the request. The launcher leads a
     * session and a group of its own. Its descriptor BS_LAUNCH_REPORT_FD is a pipe or a socket. If
     * the launcher cannot start the program, it writes one struct bs_launch_failure there before it
     * ends, and the run fails with this error. With a socket, the caller also waits for the start:
     * the launcher writes a record with BS_LAUNCH_STARTED as soon as the program runs. Before the
     * launcher ends, it may write a record with BS_LAUNCH_KILLED_WRITERS. */
    bool is_launcher;
    void *own; /* data that the sandbox needs in unwrap */
};

#define BS_LAUNCH_REPORT_FD 3

struct bs_launch_failure {
    int os_error;     /* errno; 0 if only `words` describes the failure */
    int step;         /* an enum bs_launch_step */
    unsigned outputs; /* with BS_LAUNCH_KILLED_WRITERS: a sum of values of enum bs_stream */
    char words[240];
};

enum bs_launch_step {
    BS_LAUNCH_PROGRAM,   /* the program could not be executed */
    BS_LAUNCH_DIRECTORY, /* the working directory could not be entered */
    BS_LAUNCH_STDIO,     /* one of the descriptors 0 to 2 could not be set up */
    BS_LAUNCH_SANDBOX,   /* the sandbox could not be set up */
    BS_LAUNCH_STARTED,   /* no failure: the program runs */
    /* no failure: the program has ended, and another process that held its output was killed */
    BS_LAUNCH_KILLED_WRITERS
};

/* The functions of a sandbox. Each may be NULL. validate and wrap are called on the caller's
 * thread, before any other effect of the run. The caller owns the struct and `ctx`. */
struct bs_sandbox {
    void *ctx;
    /* Accepts or refuses the request. Returns 0, or a negative code with *err filled. */
    int (*validate)(void *ctx, const struct bs_exec_request *request, struct bs_error *err);
    /* Fills *out. The sandbox owns everything that *out points to, and keeps it until `unwrap`, or,
     * if `unwrap` is NULL, until the run has returned. */
    int (*wrap)(void *ctx, const struct bs_exec_request *request, struct bs_wrapped *out,
                struct bs_error *err);
    /* Called once after each successful wrap, on the same thread, whether or not the child was
     * started. */
    void (*unwrap)(void *ctx, struct bs_wrapped *out);
};

#ifdef __cplusplus
}
#endif
#endif
