/* Run one module: code named by an id, one JSON value in, one out.
 *
 *   0. Call bs_module_runner_main at the start of main, before the arguments are used. It does not
 *      return in a process that was started as the runner of a module. (Not needed where
 *      boxspec-runner is installed, see "Runner".)
 *   1. Fill a struct bs_module_request, starting from BS_MODULE_REQUEST_INIT. All memory that it
 *      points to is the caller's and must live until the call returns.
 *   2. Start from BS_MODULE_RESULT_INIT and call bs_module_execute.
 *   3. If the call returns 0, result->outcome says how the module ended; only BS_MODULE_VALUE comes
 *      with a value. If it returns a negative code, there is no outcome (a sandbox refused, memory
 *      ran out); the error is filled and the result is empty. In both cases no process, descriptor
 *      or handler remains.
 *   4. In the end, call bs_module_result_clear.
 *
 * A module is an executable file EXTENSIONS_ROOT/ID. An id has letters, digits, `_`, `.` and `-`,
 * begins with a letter, a digit or `_`, and does not contain `..`. After links are resolved, the
 * file must be a regular executable file inside the root; otherwise no child is started.
 *
 * A call has these steps, in this order: it looks up the module; makes a new directory (mode 0700,
 * below the caller's TMPDIR, or /tmp); runs the command runner_argv `--internal-sandbox-runner` ID
 * by bs_exec_run with the input on stdin; removes the directory; and decides the outcome. If
 * several outcomes apply, the first of these is reported: timeout, signal to the caller, overflow,
 * exit, JSON. The runner closes all descriptors above 2, reads its stdin to the end, checks that it
 * is JSON, and executes the module with the input as a file on stdin. Runner and module are the
 * same process, so the group is ended as exec.h describes.
 *
 * The module's environment is PATH, LANG, LC_ALL and APCORE_* of the caller, byte for byte and
 * without APCORE_AUTH_*, and HOME and TMPDIR, which name the fresh directory, as does the working
 * directory. The module has no other variable. APCORE_EXTENSIONS_ROOT is made absolute.
 *
 * A module runs as the user of its caller, so it could read the caller's environment in
 * /proc/PID/environ, including the secrets that are not passed to the module. Therefore the caller
 * is not dumpable during the call (prctl(2), PR_SET_DUMPABLE), and the module runs without
 * CAP_SYS_PTRACE, CAP_PERFMON and CAP_SYS_ADMIN. If the host does not allow that, caller_exposed is
 * true in the result. The module can still read the environment of other processes of the user,
 * such as the shell that started the caller; only a sandbox with a pid namespace hides them.
 *
 * JSON is RFC 8259: UTF-8, unique member names, complete surrogate pairs, at most 64 levels. A
 * number at the very end of the output is refused (BS_MODULE_OUTPUT_PARSE) if a process that the
 * module left held stdout, because that process could have written further digits.
 *
 * Threads. Any number of threads may execute modules at once; what exec.h says about SIGINT,
 * SIGTERM and the environment holds for the length of the call. A module is killed if the thread
 * that executes it ends, for example by SIGKILL.
 *
 * Runner. If runner_argv is NULL, the runner is boxspec-runner, which is installed with the
 * library. Without shared libraries it starts several times as fast as most programs. If it is not
 * found next to the program or the library, or in ../libexec/boxspec of it, the runner is the
 * program of the caller, which must then call bs_module_runner_main.
 *
 * Rules come from the module contract, conformance/contracts/module/page.md. */
#ifndef BOXSPEC_MODULE_H
#define BOXSPEC_MODULE_H

#include <boxspec/exec.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BS_MODULE_TIMEOUT_MS 300000               /* the limit if timeout_ms is 0 */
#define BS_MODULE_MOST_BYTES (64UL * 1024 * 1024) /* output limit of each stream */
#define BS_MODULE_REMOVE_MS 1000                  /* longest time for removing the directory */
#define BS_MODULE_RUNNER "--internal-sandbox-runner"

enum bs_module_outcome {
    BS_MODULE_NONE = 0,      /* no module was executed */
    BS_MODULE_VALUE,         /* one JSON value, in `value` */
    BS_MODULE_NOT_WIRED,     /* `enabled` is false, and `function` is NULL */
    BS_MODULE_SPAWN_FAILED,  /* the root has no such module, or the child could not be started */
    BS_MODULE_TIMEOUT,       /* the module ran longer than timeout_ms */
    BS_MODULE_NON_ZERO_EXIT, /* see exit_code and stderr_text */
    BS_MODULE_SIGNALED,      /* see `signal` */
    BS_MODULE_OUTPUT_SIZE,   /* see `stream` */
    BS_MODULE_OUTPUT_PARSE,  /* `message` says why the output is not one JSON value */
    BS_MODULE_INTERRUPTED    /* the caller received SIGINT or SIGTERM; see `signal` */
};

/* A module that runs in the caller's own process, on the calling thread. The function sets *output
 * to one JSON text from malloc. Returns 0, or a negative code with *err filled. */
typedef int (*bs_module_function)(void *ctx, const char *id, const char *input, size_t input_len,
                                  struct bs_bytes *output, struct bs_error *err);

struct bs_module_request {
    const char *id;
    const char *input;           /* one JSON text */
    size_t input_len;            /* bytes */
    bool enabled;                /* run the module in a child; if false, call `function` instead */
    uint64_t timeout_ms;         /* limit, counted from the spawn; 0 means BS_MODULE_TIMEOUT_MS */
    const char *extensions_root; /* NULL: APCORE_EXTENSIONS_ROOT of the caller, else ./extensions */
    const char *const *runner_argv; /* NULL-terminated; NULL: see "Runner" */
    bs_module_function function;
    void *function_ctx;
    const struct bs_sandbox *sandbox; /* may be NULL */
};

#define BS_MODULE_REQUEST_INIT                                                                     \
    { NULL, NULL, 0, true, 0, NULL, NULL, NULL, NULL, NULL }

struct bs_module_result {
    enum bs_module_outcome outcome;
    struct bs_bytes value; /* JSON text without white space around it */
    /* one line for people; empty if there is a value; large enough for a long path */
    char message[8192];
    uint64_t timeout_ms; /* the time limit that was used */
    int exit_code;
    int signal; /* the number of the signal */
    enum bs_stream stream;
    struct bs_bytes stderr_text; /* UTF-8, see bs_bytes_to_text; empty if no child ran */
    struct bs_bytes left;        /* path of the module's directory if it could not be removed */
    /* true if the host did not let the library hide the caller from the module */
    bool caller_exposed;
};

#define BS_MODULE_RESULT_INIT                                                                      \
    { BS_MODULE_NONE, BS_BYTES_INIT, {0}, 0, 0, 0, BS_STDOUT, BS_BYTES_INIT, BS_BYTES_INIT, false }

/* Execute the module. Any thread may call it. *result is cleared first. Returns 0; BS_E_INVALID for
 * a request without id or input, or an input that is not JSON; BS_E_EXECUTION if memory ran out;
 * BS_E_IO if no directory could be made; or the code of the sandbox or of `function`. */
BS_EXPORT int bs_module_execute(const struct bs_module_request *request,
                                struct bs_module_result *result, struct bs_error *err);

BS_EXPORT void bs_module_result_clear(struct bs_module_result *result);

/* Return the name that the module contract gives an outcome, for example `NonZeroExit`. A static
 * string. */
BS_EXPORT const char *bs_module_outcome_name(enum bs_module_outcome outcome);

/* Return at once unless argv[1] is BS_MODULE_RUNNER. With this argument the process is the runner:
 * it executes the module, or prints a line to stderr and exits with 1. Call it before any thread is
 * started. */
BS_EXPORT void bs_module_runner_main(int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
