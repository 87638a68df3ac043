#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <boxspec/backend.h>

#include "cli/commands.h"
#include "cli/inside.h"
#include "cli/output.h"

static const char help[] =
    "usage: boxspec-ref sandbox --root DIR [options] -- PROGRAM [ARGUMENT...]\n"
    "\n"
    "Runs PROGRAM in a sandbox, with the supervision of `boxspec-ref exec`.\n"
    "\n"
    "  --root DIR             the workspace\n"
    "  --backend NAME         landlock, landlock+seccomp, bubblewrap, bubblewrap+seccomp "
    "(default)\n"
    "                         or none\n";

static const char help_end[] =
    "  --timeout TIME         end the run after TIME: 250ms, 2s, 5m, 1h\n"
    "  --explain              print the command and the rules that are not enforced; run no "
    "program\n"
    "  --help                 this text\n"
    "\n"
    "Rules that the sandbox does not enforce are reported on stderr. Exit status: that of "
    "PROGRAM;\n"
    "124 if the time limit expired; 126 if PROGRAM could not be run, or some of its output was "
    "lost;\n"
    "127 if PROGRAM does not exist; 128+N if signal N ended PROGRAM or this command; 3 if the\n"
    "sandbox refused it; 2 for wrong usage.\n";

enum option_code { ROOT = 2000, TIMEOUT, EXPLAIN, HELP };

static const struct option long_options[] = {{"root", required_argument, NULL, ROOT},
                                             BS_CLI_INSIDE_OPTIONS,
                                             {"timeout", required_argument, NULL, TIMEOUT},
                                             {"explain", no_argument, NULL, EXPLAIN},
                                             {"help", no_argument, NULL, HELP},
                                             {NULL, 0, NULL, 0}};

struct command {
    struct bs_cli_inside inside;
    uint64_t timeout_ms;
    bool has_timeout;
};

static int parse_option(void *state, int option, const char *word) {
    struct command *command = state;
    int status = bs_cli_inside_option(&command->inside, option, optarg);
    if (status >= 0)
        return status;
    switch (option) {
    case ROOT:
        command->inside.context.root = optarg;
        return 0;
    case TIMEOUT:
        command->has_timeout = bs_cli_duration_ms(optarg, &command->timeout_ms);
        return command->has_timeout
                   ? 0
                   : bs_cli_wrong("--timeout %s: write a time such as 250ms, 2s or 5m", optarg);
    case EXPLAIN:
        command->inside.explains = true;
        return 0;
    case HELP:
        bs_cli_inside_help(help, help_end);
        return 1;
    case ':':
        return bs_cli_wrong("%s: a value is missing; see boxspec-ref sandbox --help", word);
    default:
        return bs_cli_wrong("%s: unknown option; see boxspec-ref sandbox --help", word);
    }
}

/* Print the wrapped command, one argument per line, and the plan file that it names. */
static void put_command(void *ctx, const char *call, int code, const char *message,
                        const struct bs_backend_report *report, const struct bs_wrapped *wrapped) {
    const struct command *command = ctx;
    (void)code;
    (void)message;
    (void)report;
    if (!command->inside.explains || wrapped == NULL || strcmp(call, "wrap") != 0)
        return;
    for (size_t i = 0; wrapped->argv[i] != NULL; i++)
        bs_cli_inside_put_line(stdout, "argv         ", wrapped->argv[i]);
    for (size_t i = 0; i < wrapped->n_env; i++) {
        (void)fprintf(stdout, "env          %s=", wrapped->env[i].name);
        bs_cli_inside_put_line(stdout, "", wrapped->env[i].value);
    }
    FILE *plan = wrapped->is_launcher ? fopen(wrapped->argv[2], "re") : NULL;
    char *entry = NULL;
    size_t size = 0;
    while (plan != NULL && getdelim(&entry, &size, '\0', plan) > 0)
        bs_cli_inside_put_line(stdout, "plan         ", entry);
    free(entry);
    if (plan != NULL)
        (void)fclose(plan);
}

static struct bs_exec_request request_of(char **argv, size_t argc) {
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    request.program = argv[0];
    request.args = (const char *const *)(argv + 1);
    request.n_args = argc - 1;
    return request;
}

static int run_program(struct bs_session *session, const struct command *command, char **argv,
                       size_t argc) {
    struct bs_cli_output output = {{0, 0}};
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    struct bs_exec_request request = request_of(argv, argc);
    request.timeout_ms = command->has_timeout ? &command->timeout_ms : NULL;
    request.on_output = bs_cli_pass_on;
    request.on_output_ctx = &output;
    /* Ignore SIGPIPE: this command supervises the program and must not end if a reader closes. */
    (void)signal(SIGPIPE, SIG_IGN);
    int code = bs_session_run(session, &request, &result, &err);
    if (code != BS_OK) {
        (void)bs_cli_wrong("%s", err.message);
        return err.os_error == ENOENT ? 127 : 126;
    }
    if (result.err.len > 0)
        (void)fprintf(stderr, "%s\n", result.err.data);
    int status = bs_cli_output_status(&output, &result);
    bs_exec_result_clear(&result);
    return status;
}

/* Wrap the command without running it. put_command prints the wrapped command. */
static int explain(struct bs_session *session, char **argv, size_t argc) {
    struct bs_error err = BS_ERROR_INIT;
    struct bs_exec_request request = request_of(argv, argc);
    int code = bs_session_explain(session, &request, &err);
    return code == BS_OK ? 0 : bs_cli_failed(code, &err);
}

static int open_and_run(struct command *command, char **argv, size_t argc) {
    const struct bs_session_log log = {command, put_command};
    struct bs_cli_inside *inside = &command->inside;
    inside->log = &log;
    int status = bs_cli_inside_open(inside);
    struct bs_session *session = bs_lazy_session_opened(inside->session);
    if (status == 0)
        status = inside->explains ? explain(session, argv, argc)
                                  : run_program(session, command, argv, argc);
    bs_cli_inside_close(inside);
    return status;
}

static int sandbox(struct command *command, char **argv, int argc) {
    if (command->inside.context.root == NULL || argc == 0)
        return bs_cli_wrong("name a root and a program: boxspec-ref sandbox --root DIR -- PROGRAM");
    int status = bs_cli_inside_read(&command->inside);
    return status != 0 ? status : open_and_run(command, argv, (size_t)argc);
}

int bs_cli_sandbox(int argc, char **argv) {
    struct command command = {.has_timeout = false};
    int status = bs_cli_inside_init(&command.inside, argc) ? 0 : 2;
    command.inside.backend = bs_backend_find("bubblewrap+seccomp");
    if (status == 0)
        status = bs_cli_handle_options(argc, argv, long_options, true, parse_option, &command);
    if (status == 0)
        status = sandbox(&command, argv + optind, argc - optind);
    else if (status == 1)
        status = 0;
    bs_cli_inside_clear(&command.inside);
    return status;
}
