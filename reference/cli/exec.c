#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <boxspec/exec.h>

#include "cli/commands.h"
#include "cli/output.h"

static const char help[] =
    "usage: boxspec-ref exec [options] -- PROGRAM [ARGUMENT...]\n"
    "\n"
    "Runs PROGRAM in a process group of its own, and passes on its output. The whole group is "
    "ended\n"
    "when PROGRAM exits, when its time limit expires, or when this command receives SIGINT or\n"
    "SIGTERM (SIGKILL after 5 s).\n"
    "\n"
    "  --timeout TIME      end the run after TIME: 250ms, 2s, 5m, 1h\n"
    "  --cwd DIR           working directory of PROGRAM\n"
    "  --env-clear         start from an empty environment\n"
    "  --env NAME=VALUE    set a variable; may be repeated\n"
    "  --stdin null        stdin is empty (default: the stdin of this command)\n"
    "  --max-output SIZE   end the run if a stream has more output: 4096, 64k, 4M, 1G\n"
    "  --debug             copy the output to stderr, with secrets of the environment replaced,\n"
    "                      instead of passing it on\n"
    "  --summary           print a line to stderr that says how the run ended\n"
    "  --help              print this text\n"
    "\n"
    "Exit status: that of PROGRAM; 124 if the time limit expired; 125 if there was more output "
    "than\n"
    "--max-output; 126 if PROGRAM could not be run in DIR, or some of its output was lost; 127 if\n"
    "PROGRAM does not exist; 128+N if signal N ended PROGRAM or this command; 2 for wrong usage.\n";

struct options {
    struct bs_exec_request request;
    /* `request` points to this field and the next two if the options are given */
    uint64_t timeout_ms;
    uint64_t max_output_bytes;
    struct bs_env_pair *pairs;
    size_t n_pairs;
    bool clear;
    bool summary;
};

static const struct option long_options[] = {
    {"timeout", required_argument, NULL, 't'}, {"cwd", required_argument, NULL, 'C'},
    {"env-clear", no_argument, NULL, 'c'},     {"env", required_argument, NULL, 'e'},
    {"stdin", required_argument, NULL, 'i'},   {"max-output", required_argument, NULL, 'm'},
    {"debug", no_argument, NULL, 'd'},         {"summary", no_argument, NULL, 's'},
    {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};

static int add_pair(struct options *options, char *text) {
    char *equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        return bs_cli_wrong("--env %s: write NAME=VALUE", text);
    *equals = '\0';
    options->pairs[options->n_pairs++] = (struct bs_env_pair){text, equals + 1};
    return 0;
}

static int parse_option(void *state, int option, const char *word) {
    struct options *options = state;
    char *value = optarg;
    struct bs_exec_request *request = &options->request;
    switch (option) {
    case 't':
        if (!bs_cli_duration_ms(value, &options->timeout_ms))
            return bs_cli_wrong("--timeout %s: write a time such as 250ms, 2s or 5m", value);
        request->timeout_ms = &options->timeout_ms;
        return 0;
    case 'C':
        request->current_dir = value;
        return 0;
    case 'c':
        options->clear = true;
        return 0;
    case 'e':
        return add_pair(options, value);
    case 'i':
        if (strcmp(value, "null") != 0 && strcmp(value, "inherit") != 0)
            return bs_cli_wrong("--stdin %s: write null or inherit", value);
        request->stdin_mode = strcmp(value, "null") == 0 ? BS_STDIN_NULL : BS_STDIN_INHERIT;
        return 0;
    case 'm':
        if (!bs_cli_size(value, &options->max_output_bytes))
            return bs_cli_wrong("--max-output %s: write a size such as 4096, 64k or 4M", value);
        request->max_output_bytes = &options->max_output_bytes;
        return 0;
    case 'd':
        request->debug = true;
        return 0;
    case 's':
        options->summary = true;
        return 0;
    case 'h':
        (void)fputs(help, stdout);
        return 1;
    case ':':
        return bs_cli_wrong("%s: a value is missing; see boxspec-ref exec --help", word);
    default:
        return bs_cli_wrong("%s: unknown option; see boxspec-ref exec --help", word);
    }
}

static void drop(void *ctx, enum bs_stream stream, const char *data, size_t len) {
    (void)ctx;
    (void)stream;
    (void)data;
    (void)len;
}

/* Set the environment of the program. Without --env-clear the pairs are added to the environment of
 * this command. */
static int choose_environment(struct options *options) {
    struct bs_exec_request *request = &options->request;
    if (options->clear) {
        request->env_mode = BS_ENV_CLEAR_AND_SET;
        request->env = options->pairs;
        request->n_env = options->n_pairs;
        return 0;
    }
    for (size_t i = 0; i < options->n_pairs; i++) {
        if (setenv(options->pairs[i].name, options->pairs[i].value, 1) != 0)
            return bs_cli_wrong("--env %s: out of memory", options->pairs[i].name);
    }
    return 0;
}

static void summarize(const struct bs_exec_result *result) {
    char how[64];
    if (result->termination == BS_ENDED_EXIT)
        (void)snprintf(how, sizeof how, "exit %d", result->exit_code);
    else if (result->termination == BS_ENDED_SIGNAL)
        (void)snprintf(how, sizeof how, "signal %d", result->signal);
    else if (result->termination == BS_ENDED_PARENT_SIGNAL)
        (void)snprintf(how, sizeof how, "this command received signal %d", result->signal);
    else
        (void)snprintf(how, sizeof how, "%s",
                       result->termination == BS_ENDED_TIMEOUT ? "time limit expired"
                                                               : "too much output");
    (void)fprintf(stderr, "boxspec-ref: %s after %llu ms\n", how,
                  (unsigned long long)result->duration_ms);
}

static int run(struct options *options) {
    struct bs_cli_output output = {{0, 0}};
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    options->request.on_output = options->request.debug ? drop : bs_cli_pass_on;
    options->request.on_output_ctx = &output;
    const char *directory = options->request.current_dir;
    int code = bs_exec_run(&options->request, &result, &err);
    if (code != BS_OK) {
        (void)bs_cli_wrong("%s", err.message);
        bool has_directory = directory == NULL || access(directory, X_OK) == 0;
        return err.os_error == ENOENT && has_directory ? 127 : 126;
    }
    if (result.err.len > 0) {
        /* The run has passed on its output. Only the line about the end of the run remains. */
        (void)fwrite(result.err.data, 1, result.err.len, stderr);
        (void)fputc('\n', stderr);
    }
    if (options->summary)
        summarize(&result);
    int status = bs_cli_output_status(&output, &result);
    bs_exec_result_clear(&result);
    return status;
}

int bs_cli_exec(int argc, char **argv) {
    struct options options = {.request = BS_EXEC_REQUEST_INIT};
    options.pairs = calloc((size_t)argc, sizeof *options.pairs);
    if (options.pairs == NULL)
        return bs_cli_wrong("out of memory");
    int status = bs_cli_handle_options(argc, argv, long_options, true, parse_option, &options);
    if (status == 0 && optind >= argc)
        status =
            bs_cli_wrong("no program; write boxspec-ref exec [options] -- PROGRAM [ARGUMENT...]");
    if (status == 0)
        status = choose_environment(&options);
    if (status != 0) {
        free(options.pairs);
        return status == 1 ? 0 : status;
    }
    options.request.program = argv[optind];
    options.request.args = (const char *const *)(argv + optind + 1);
    options.request.n_args = (size_t)(argc - optind - 1);
    /* Ignore SIGPIPE: this command supervises the program and must not end if a reader closes. */
    (void)signal(SIGPIPE, SIG_IGN);
    status = run(&options);
    free(options.pairs);
    return status;
}
