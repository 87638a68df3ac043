/* Run one program under supervision.
 *
 *   1. Fill a struct bs_exec_request, starting from BS_EXEC_REQUEST_INIT. Only `program` is
 *      required; a field that is 0 or NULL has its default, so `{.program = "true"}` is a whole
 *      request. All memory that it points to is the caller's and must live until the call returns.
 *   2. Start from BS_EXEC_RESULT_INIT and call bs_exec_run. It returns when the child's whole
 *      process group has ended and its output is read to the end.
 *   3. If the call returns 0, the result is filled, even if the child failed. If it returns a
 *      negative code, the error is filled and the result is empty. In both cases no process,
 *      descriptor, thread, handler or changed signal mask remains.
 *   4. Call bs_exec_result_text to turn the output from bytes into text. In the end, call
 *      bs_exec_result_clear.
 *
 * A run has these steps, always in this order: the sandbox validates the request; the clock starts;
 * handlers for SIGINT and SIGTERM are installed; the child is spawned as leader of its own process
 * group; the deadline counts from the start of the spawn; one loop waits for output, stdin,
 * signals, the cancel descriptor and the child; the group is ended; the handlers are restored.
 *
 * Ending a group. After a deadline, signal, cancel or stdin failure, the library sends one signal
 * and SIGCONT to the group. It waits at most BS_EXEC_GRACE_MS until the group is empty, and then
 * sends SIGKILL. If the child exits by itself, the rest of its group gets SIGKILL. Output that a
 * member wrote before that is read, and killed_writers is true if a killed member held a pipe of
 * the run. The leader is reaped last: as long as it is a zombie, the kernel does not give the
 * group's number to another process. If a member cannot be signalled (it now belongs to another
 * user, by sudo for example) or survives SIGKILL, the wait ends BS_EXEC_KILL_MS after the SIGKILL
 * and the member is counted in group_left. A process that left the group (setsid, setpgid) is not
 * signalled; if it holds the pipes, the call waits for it at most BS_EXEC_LINGER_MS.
 *
 * A terminal as inherited stdin. If stdin is the caller's controlling terminal and the caller is in
 * the foreground, the child's group is the foreground group during the run: only the child receives
 * the signals of Ctrl-C and Ctrl-\, and after Ctrl-Z the library continues the child at once. The
 * caller's group is the foreground group again when the call returns. If the terminal cannot be
 * lent and SIGTTIN or SIGTTOU stops the child, the group is ended as at a deadline and the last
 * line of `err` names the stop. Only one run at a time has the terminal.
 *
 * Threads. bs_exec_run may be called from any number of threads at once; runs do not wait for each
 * other. While at least one run is active, the library handles SIGINT and SIGTERM and passes them
 * to every active run. When the last run ends, the library restores the previous dispositions.
 * While a run is active, do not change these two dispositions, do not reap children with
 * waitpid(-1), and do not call setenv, because the environment is read without a lock.
 *
 * If the caller forks during a run, no run is active in the forked process, and the two
 * dispositions are the previous ones there (after vfork and _Fork: from the first signal on). The
 * forked process may start runs of its own. If it was forked in on_output, it must not return from
 * on_output. Until it executes a program or ends, it holds the pipes of the active runs, so the
 * program of a run may not see the end of its stdin.
 *
 * A caller that ignores SIGCHLD (or set SA_NOCLDWAIT) cannot learn how a child ended. Therefore the
 * library refuses the run before the spawn.
 *
 * Rules come from the exec contract, conformance/contracts/exec/page.md; the ids there (EXEC-...)
 * name them. */
#ifndef BOXSPEC_EXEC_H
#define BOXSPEC_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <boxspec/bytes.h>
#include <boxspec/error.h>
#include <boxspec/sandbox.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The next two values are constants and not fields of a request, because all tools must end a
 * program in the same way (EXEC-REQUEST-04). */
#define BS_EXEC_GRACE_MS 5000 /* from the first signal to SIGKILL */
/* longest interval between two checks of a condition that no descriptor reports */
#define BS_EXEC_TICK_MS 100
/* Limits that the contract leaves to the implementation. */
/* from SIGKILL until remaining members are given up and counted in group_left */
#define BS_EXEC_KILL_MS 1000
/* from the end of the group until pipes that other processes hold are closed */
#define BS_EXEC_LINGER_MS 1000
#define BS_EXEC_TEE_MS 100 /* longest time spent flushing `debug` output to a blocked terminal */

enum bs_stdin_mode {
    BS_STDIN_INHERIT = 0, /* stdin of the caller, or /dev/null if the caller has closed it */
    BS_STDIN_NULL,        /* /dev/null */
    BS_STDIN_BYTES        /* a pipe: the child reads stdin_data and then end-of-file */
};

enum bs_stdin_failure {
    BS_STDIN_FAILURE_ERROR = 0, /* if the payload could not be written, the run fails */
    /* the payload may remain unwritten; the exit of the child is the result */
    BS_STDIN_FAILURE_IGNORE
};

enum bs_env_mode {
    BS_ENV_INHERIT = 0,
    BS_ENV_CLEAR_AND_SET /* only the pairs of `env`; if a name occurs twice, the last pair wins */
};

enum bs_stream { BS_STDOUT = 1, BS_STDERR = 2 }; /* the values can be combined as bits */

enum bs_termination {
    BS_ENDED_EXIT = 0,      /* the child exited */
    BS_ENDED_SIGNAL,        /* a signal that the library did not send ended the child, or SIGTTIN or
                               SIGTTOU stopped it for good */
    BS_ENDED_TIMEOUT,       /* the deadline passed */
    BS_ENDED_PARENT_SIGNAL, /* SIGINT or SIGTERM reached the calling process */
    BS_ENDED_CAP,           /* more output than max_output_bytes */
    BS_ENDED_STDIN,         /* never in a result: after a stdin failure the run returns an error */
    BS_ENDED_CANCEL         /* cancel_fd became readable */
};

struct bs_env_pair {
    const char *name; /* not empty, without '=' */
    const char *value;
};

struct bs_exec_request {
    /* If the name has a slash, it is a path relative to current_dir. Otherwise it is looked up in
     * the PATH of the child, entry by entry, or in the default path of the system if the child has
     * no PATH. */
    const char *program;
    const char *const *args; /* n_args strings, without the program itself */
    size_t n_args;
    const char *current_dir; /* NULL: the directory of the caller */
    /* Time limit, counted from the spawn. NULL: no limit. 0 expires at once; it does not mean "no
     * limit". */
    const uint64_t *timeout_ms;
    enum bs_stdin_mode stdin_mode;
    const void *stdin_data;
    size_t stdin_len; /* bytes */
    enum bs_stdin_failure stdin_failure;
    enum bs_env_mode env_mode;
    const struct bs_env_pair *env;
    size_t n_env;
    bool debug; /* also copy the output to descriptor 2 of the caller, with secrets replaced */
    /* How many bytes of each stream are kept, or passed to on_output. One more byte ends the run.
     * NULL: no limit. */
    const uint64_t *max_output_bytes;
    /* A descriptor that cancels the run: when it becomes readable or hangs up, the run is ended as
     * at a deadline. The library does not read from it. NULL: not used. */
    const int *cancel_fd;
    /* Receives output as soon as it is read, on the calling thread; the result then has no output.
     * Must not block for long, because the deadline is checked only between two calls. */
    void (*on_output)(void *ctx, enum bs_stream stream, const char *data, size_t len);
    void *on_output_ctx;
    const struct bs_sandbox *sandbox; /* may be NULL */
    /* Absolute paths that the program must be able to read. Only a sandbox uses them. */
    const char *const *readable;
    size_t n_readable;
};

#define BS_EXEC_REQUEST_INIT                                                                       \
    {                                                                                              \
        NULL, NULL, 0, NULL, NULL, BS_STDIN_INHERIT, NULL, 0, BS_STDIN_FAILURE_ERROR,              \
            BS_ENV_INHERIT, NULL, 0, false, NULL, NULL, NULL, NULL, NULL, NULL, 0                  \
    }

/* Bits of pending_signals. */
#define BS_PENDING_SIGINT 1u
#define BS_PENDING_SIGTERM 2u

struct bs_exec_result {
    bool success; /* the child exited with 0 by itself */
    /* false if a signal, a deadline, a cap or a cancel ended the child */
    bool has_exit_code;
    int exit_code; /* 0 to 255; 130 or 143 if the calling process received SIGINT or SIGTERM */
    struct bs_bytes out;
    /* ends with a line that names the deadline, signal, stop or cancel, if one ended the run */
    struct bs_bytes err;
    uint64_t duration_ms; /* monotonic time from after `validate` to the return, rounded down */
    enum bs_termination termination;
    int signal; /* the signal that ended the child, or that the caller received; otherwise 0 */
    /* The streams whose output beyond max_output_bytes was dropped: BS_STDOUT, BS_STDERR, their
     * sum, or 0. */
    unsigned truncated;
    bool detached_writers; /* a process that left the group still held a pipe of the run */
    /* the library killed a member that outlived the child and held a pipe of the run */
    bool killed_writers;
    /* The streams that detached or killed writers held, so that output of them may be missing:
     * BS_STDOUT, BS_STDERR, their sum, or 0. */
    unsigned unfinished;
    unsigned group_left; /* members that were still alive when the library gave up after SIGKILL */
    unsigned pending_signals; /* further signals that the caller received during the run */
    struct rusage usage;      /* of the child and its reaped descendants */
};

#define BS_EXEC_RESULT_INIT                                                                        \
    {                                                                                              \
        false, false, 0, BS_BYTES_INIT, BS_BYTES_INIT, 0, BS_ENDED_EXIT, 0, 0, false, false, 0, 0, \
            0, {                                                                                   \
            {0, 0}, {0, 0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, { 0 } \
        }                                                                                          \
    }

/* Run the program. *result is cleared first. May be called on any thread. Returns 0; the code of a
 * sandbox that refused the request; or BS_E_EXECUTION with one of these messages:
 *   - "failed to spawn `P`: ...". If a step before the program itself failed and is known, the
 *     message names the step.
 *   - "failed to write stdin: ..." if the payload could not be written.
 *   - "failed to read stdout: ..." (or stderr) if the output could not be read.
 *   - "wait timeout error: ..." if another part of the program reaped the child.
 *   - a message about missing memory. */
BS_EXPORT int bs_exec_run(const struct bs_exec_request *request, struct bs_exec_result *result,
                          struct bs_error *err);

/* Turn both streams into text (see bs_bytes_to_text). Returns 0 or BS_E_EXECUTION. */
BS_EXPORT int bs_exec_result_text(struct bs_exec_result *result);

BS_EXPORT void bs_exec_result_clear(struct bs_exec_result *result);

/* Write an environment in a form that may be logged: `Inherit`, or `ClearAndSet([("A", "1")])` with
 * the values of sensitive names replaced by [REDACTED] and strings escaped. The caller must clear
 * *out. */
BS_EXPORT int bs_exec_format_env(enum bs_env_mode mode, const struct bs_env_pair *env, size_t n_env,
                                 struct bs_bytes *out, struct bs_error *err);

#ifdef __cplusplus
}
#endif
#endif
