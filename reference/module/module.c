#define _GNU_SOURCE
#include <boxspec/module.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/installed.h"
#include "exec/exec.h"
#include "exec/signals.h"
#include "module/environment.h"
#include "module/folder.h"
#include "module/hiding.h"
#include "module/lookup.h"
#include "module/output.h"

/* Longer names are cut, so that two names fit in a message. */
enum { NAME_MOST = 4000 };

static int no_memory(struct bs_error *err) {
    return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory");
}

static void set_outcome(struct bs_module_result *result, enum bs_module_outcome outcome,
                        const char *message) {
    result->outcome = outcome;
    (void)snprintf(result->message, sizeof result->message, "%s", message);
}

static int call_function(const struct bs_module_request *request, struct bs_module_result *result,
                         struct bs_error *err) {
    struct bs_bytes output = BS_BYTES_INIT;
    if (request->function == NULL) {
        set_outcome(result, BS_MODULE_NOT_WIRED,
                    "no function executes modules in this process; enable the child process, or "
                    "give a function");
        return BS_OK;
    }
    int code = request->function(request->function_ctx, request->id, request->input,
                                 request->input_len, &output, err);
    if (code == BS_OK)
        code = bs_module_check_output(&output, true, result, err);
    bs_bytes_clear(&output);
    return code;
}

static void set_signal(int signo, enum bs_module_outcome outcome, const char *words,
                       struct bs_module_result *result) {
    result->outcome = outcome;
    result->signal = signo;
    (void)snprintf(result->message, sizeof result->message, "%s signal %d", words, signo);
}

/* Find out the outcome. The checks have this order: timeout, signal to the caller, overflow, exit,
 * JSON. `late` is a signal that reached the caller after the run. */
static int decide_outcome(struct bs_exec_result *run, int late, struct bs_module_result *result,
                          struct bs_error *err) {
    if (bs_bytes_to_text(&run->err) != BS_OK)
        return no_memory(err);
    result->stderr_text = run->err;
    run->err = (struct bs_bytes)BS_BYTES_INIT;
    char words[128];
    if (run->termination == BS_ENDED_TIMEOUT) {
        (void)snprintf(words, sizeof words, "it took longer than %llu ms",
                       (unsigned long long)result->timeout_ms);
        set_outcome(result, BS_MODULE_TIMEOUT, words);
    } else if (run->termination == BS_ENDED_PARENT_SIGNAL || late != 0) {
        set_signal(run->signal != 0 ? run->signal : late, BS_MODULE_INTERRUPTED,
                   "the caller was sent", result);
    } else if (run->termination == BS_ENDED_CAP) {
        result->stream = (run->truncated & BS_STDOUT) != 0 ? BS_STDOUT : BS_STDERR;
        (void)snprintf(words, sizeof words, "more than %lu bytes on %s", BS_MODULE_MOST_BYTES,
                       result->stream == BS_STDOUT ? "stdout" : "stderr");
        set_outcome(result, BS_MODULE_OUTPUT_SIZE, words);
    } else if (run->termination == BS_ENDED_SIGNAL) {
        set_signal(run->signal, BS_MODULE_SIGNALED, "it died of", result);
    } else if (run->exit_code != 0) {
        result->exit_code = run->exit_code;
        (void)snprintf(words, sizeof words, "it exited with %d", run->exit_code);
        set_outcome(result, BS_MODULE_NON_ZERO_EXIT, words);
    } else {
        return bs_module_check_output(&run->out, (run->unfinished & BS_STDOUT) == 0, result, err);
    }
    return BS_OK;
}

/* Return boxspec-runner, or the program of the caller if boxspec-runner is not installed. */
static char *find_runner(struct bs_error *err) {
    enum { MOST = 4096 };
    char *found = bs_find_installed("boxspec-runner");
    if (found != NULL)
        return found;
    char *path = calloc(1, MOST);
    if (path == NULL) {
        (void)no_memory(err);
    } else if (readlink("/proc/self/exe", path, MOST - 1) <= 0) {
        (void)bs_fail(err, BS_E_EXECUTION, errno,
                      "no runner: /proc/self/exe cannot be read; set runner_argv");
        free(path);
        path = NULL;
    }
    return path;
}

/* Everything that one execution allocates. */
struct execution {
    char *root;
    char *file;
    char *folder;
    char *runner;
    const char **argv;
    struct bs_module_environment environment;
};

static void execution_clear(struct execution *execution) {
    free(execution->root);
    free(execution->file);
    free(execution->folder);
    free(execution->runner);
    free(execution->argv);
    bs_module_environment_clear(&execution->environment);
}

/* Find the file of the module. If there is none, set the outcome BS_MODULE_SPAWN_FAILED. */
static int find_module(const struct bs_module_request *request, struct execution *execution,
                       struct bs_module_result *result, struct bs_error *err) {
    if (!bs_module_id_is_valid(request->id)) {
        (void)snprintf(result->message, sizeof result->message,
                       "`%.*s` is not a module id: letters, digits, `_`, `.` and `-`, no `..`",
                       NAME_MOST, request->id);
        result->outcome = BS_MODULE_SPAWN_FAILED;
        return BS_OK;
    }
    execution->root = bs_module_root(request->extensions_root);
    if (execution->root == NULL)
        return no_memory(err);
    execution->file = bs_module_find(execution->root, request->id);
    if (execution->file != NULL)
        return BS_OK;
    if (errno == ENOMEM)
        return no_memory(err);
    (void)snprintf(result->message, sizeof result->message, "module not found: %.*s/%.*s",
                   NAME_MOST, execution->root, NAME_MOST, request->id);
    result->outcome = BS_MODULE_SPAWN_FAILED;
    return BS_OK;
}

/* Build the command: runner_argv, or the runner that is found, followed by BS_MODULE_RUNNER and the
 * id. */
static int build_argv(const struct bs_module_request *request, struct execution *execution,
                      struct bs_exec_request *run, struct bs_error *err) {
    execution->runner = request->runner_argv == NULL ? find_runner(err) : NULL;
    if (request->runner_argv == NULL && execution->runner == NULL)
        return BS_E_EXECUTION;
    const char *const found[] = {execution->runner, NULL};
    const char *const *given = request->runner_argv != NULL ? request->runner_argv : found;
    size_t n = 0;
    while (given[n] != NULL)
        n++;
    if (n == 0)
        return bs_fail(err, BS_E_INVALID, 0, "runner_argv has no program");
    execution->argv = calloc(n + 2, sizeof *execution->argv);
    if (execution->argv == NULL)
        return no_memory(err);
    for (size_t i = 1; i < n; i++)
        execution->argv[i - 1] = given[i];
    execution->argv[n - 1] = BS_MODULE_RUNNER;
    execution->argv[n] = request->id;
    run->program = given[0];
    run->args = execution->argv;
    run->n_args = n + 1;
    return BS_OK;
}

static void remove_folder(const struct execution *execution, struct bs_module_result *result) {
    if (bs_module_folder_remove(execution->folder, BS_MODULE_REMOVE_MS))
        return;
    struct bs_buf left = BS_BUF_INIT;
    bs_buf_str(&left, execution->folder);
    result->left = bs_buf_take(&left);
}

/* Run the module, and remove the folder whether or not the run succeeded. */
static int run_in_folder(const struct bs_module_request *request, struct execution *execution,
                         const struct bs_signal_slot *slot, struct bs_module_result *result,
                         struct bs_error *err) {
    const uint64_t most = BS_MODULE_MOST_BYTES;
    struct bs_exec_request run = BS_EXEC_REQUEST_INIT;
    struct bs_exec_result ended = BS_EXEC_RESULT_INIT;
    int code = build_argv(request, execution, &run, err);
    if (code == BS_OK &&
        !bs_module_environment_make(&execution->environment, execution->root, execution->folder))
        code = no_memory(err);
    if (code != BS_OK) {
        remove_folder(execution, result);
        return code;
    }
    const char *const readable[] = {execution->root, run.program};
    run.current_dir = execution->folder;
    run.timeout_ms = &result->timeout_ms;
    run.stdin_mode = BS_STDIN_BYTES;
    run.stdin_data = request->input;
    run.stdin_len = request->input_len;
    run.stdin_failure = BS_STDIN_FAILURE_IGNORE;
    run.env_mode = BS_ENV_CLEAR_AND_SET;
    run.env = execution->environment.pairs;
    run.n_env = execution->environment.n;
    run.max_output_bytes = &most;
    run.sandbox = request->sandbox;
    run.readable = readable;
    run.n_readable = sizeof readable / sizeof *readable;
    struct bs_error why = BS_ERROR_INIT;
    code = bs_exec_run_with(&run, slot, &ended, &why);
    remove_folder(execution, result);
    int signo = bs_signal_first(slot);
    if (code == BS_E_EXECUTION && signo != 0 && why.os_error == EINTR) {
        set_signal(signo, BS_MODULE_INTERRUPTED, "the caller was sent", result);
        code = BS_OK;
    } else if (code == BS_E_EXECUTION && why.os_error != ENOMEM) {
        set_outcome(result, BS_MODULE_SPAWN_FAILED, why.message);
        code = BS_OK;
    } else if (code == BS_OK) {
        /* Signals that arrive from here on go to the handlers of the caller. */
        code = decide_outcome(&ended, signo, result, err);
    } else if (err != NULL) {
        *err = why;
    }
    bs_exec_result_clear(&ended);
    return code;
}

/* Run the module while the caller's environment is hidden. If hiding fails, caller_exposed is true
 * even for a request with a sandbox, because the library does not know whether the sandbox hides
 * the environment. */
static int run_hidden(const struct bs_module_request *request, struct execution *execution,
                      const struct bs_signal_slot *slot, struct bs_module_result *result,
                      struct bs_error *err) {
    bool is_hidden = bs_hiding_begin();
    result->caller_exposed = !is_hidden || bs_hiding_is_incomplete();
    int code = run_in_folder(request, execution, slot, result, err);
    if (is_hidden)
        bs_hiding_end();
    return code;
}

/* Keep the signal handlers of a run installed from the start to the end, because a signal must not
 * end the caller before the folder is removed. */
static int execute_in_child(const struct bs_module_request *request,
                            struct bs_module_result *result, struct bs_error *err) {
    struct execution execution = {.environment = {NULL, 0, NULL}};
    unsigned sigints = 0;
    unsigned sigterms = 0;
    char buf[128];
    int code = find_module(request, &execution, result, err);
    struct bs_signal_slot *slot = NULL;
    if (code != BS_OK || result->outcome != BS_MODULE_NONE)
        goto finish;
    slot = bs_signals_acquire(err);
    if (slot == NULL) {
        code = BS_E_EXECUTION;
        goto finish;
    }
    execution.folder = bs_module_folder_make();
    if (execution.folder != NULL)
        code = run_hidden(request, &execution, slot, result, err);
    else if (errno == ENOMEM)
        code = no_memory(err);
    else
        code = bs_fail(err, BS_E_IO, errno,
                       "no directory for the module: %s; make room, or set TMPDIR",
                       bs_os_message(errno, buf, sizeof buf));
    bs_signals_release(slot, &sigints, &sigterms);
finish:
    execution_clear(&execution);
    return code;
}

static int check(const struct bs_module_request *request, struct bs_error *err) {
    struct bs_json_error why;
    bool is = false;
    if (request->id == NULL || request->input == NULL)
        return bs_fail(err, BS_E_INVALID, 0, "the request names no %s",
                       request->id == NULL ? "id" : "input");
    if (!bs_module_is_json(request->input, request->input_len, &why, &is))
        return no_memory(err);
    if (!is)
        return bs_fail(err, BS_E_INVALID, 0, "the input is not JSON: line %zu, column %zu: %s",
                       why.line, why.column, why.message);
    return BS_OK;
}

int bs_module_execute(const struct bs_module_request *request, struct bs_module_result *result,
                      struct bs_error *err) {
    *result = (struct bs_module_result)BS_MODULE_RESULT_INIT;
    result->timeout_ms = request->timeout_ms != 0 ? request->timeout_ms : BS_MODULE_TIMEOUT_MS;
    int code = check(request, err);
    if (code == BS_OK)
        code = request->enabled ? execute_in_child(request, result, err)
                                : call_function(request, result, err);
    if (code != BS_OK)
        bs_module_result_clear(result);
    return code;
}

void bs_module_result_clear(struct bs_module_result *result) {
    bs_bytes_clear(&result->value);
    bs_bytes_clear(&result->stderr_text);
    bs_bytes_clear(&result->left);
    *result = (struct bs_module_result)BS_MODULE_RESULT_INIT;
}

const char *bs_module_outcome_name(enum bs_module_outcome outcome) {
    static const char *const names[] = {[BS_MODULE_NONE] = "None",
                                        [BS_MODULE_VALUE] = "Value",
                                        [BS_MODULE_NOT_WIRED] = "NotWired",
                                        [BS_MODULE_SPAWN_FAILED] = "SpawnFailed",
                                        [BS_MODULE_TIMEOUT] = "Timeout",
                                        [BS_MODULE_NON_ZERO_EXIT] = "NonZeroExit",
                                        [BS_MODULE_SIGNALED] = "Signaled",
                                        [BS_MODULE_OUTPUT_SIZE] = "OutputSizeExceeded",
                                        [BS_MODULE_OUTPUT_PARSE] = "OutputParseFailed",
                                        [BS_MODULE_INTERRUPTED] = "Interrupted"};
    return names[outcome];
}
