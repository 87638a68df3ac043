#define _GNU_SOURCE
#include <boxspec/module.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/sys.h"
#include "cli/commands.h"
#include "cli/inside.h"

static const char help[] =
    "usage: boxspec-ref module [options] ID < INPUT.json\n"
    "\n"
    "Executes the file EXTENSIONS_ROOT/ID in a child. The child reads one JSON value on its "
    "stdin,\n"
    "and prints one JSON value, which this command prints.\n"
    "\n"
    "  --root DIR             folder of the modules (default: APCORE_EXTENSIONS_ROOT, or\n"
    "                         ./extensions)\n"
    "  --timeout DURATION     time limit: 250ms, 2s, 5m (default: 5m)\n"
    "  --backend NAME         execute the module in a sandbox with its directory as workspace:\n"
    "                         landlock, landlock+seccomp, bubblewrap or bubblewrap+seccomp\n";

static const char help_end[] =
    "  --help                 this text\n"
    "\n"
    "Exit status: 0 if the module printed a value; 1 if it did not, with the reason on stderr; 3 "
    "if\n"
    "the sandbox refused it; 2 for wrong usage. Rules that the sandbox does not enforce are\n"
    "reported on stderr.\n";

static bool read_stdin(struct bs_buf *input) {
    enum { CHUNK = 64 * 1024 };
    ssize_t n = 1;
    while (n > 0) {
        if (!bs_buf_reserve(input, CHUNK))
            return false;
        n = (ssize_t)BS_RETRY(read(STDIN_FILENO, input->data + input->len, CHUNK));
        input->len += n > 0 ? (size_t)n : 0;
    }
    return n == 0;
}

static int show(const struct bs_module_result *result) {
    if (result->left.len > 0)
        (void)fprintf(stderr, "boxspec-ref: the directory %s could not be removed\n",
                      result->left.data);
    if (result->outcome == BS_MODULE_VALUE) {
        (void)fwrite(result->value.data, 1, result->value.len, stdout);
        (void)fputc('\n', stdout);
        return fflush(stdout) == 0 ? 0 : 1;
    }
    const struct bs_bytes *said = &result->stderr_text;
    if (said->len > 0)
        (void)fprintf(stderr, "%s%s", said->data, said->data[said->len - 1] == '\n' ? "" : "\n");
    (void)fprintf(stderr, "boxspec-ref: %s: %s\n", bs_module_outcome_name(result->outcome),
                  result->message);
    return 1;
}

static int failed(int code, const struct bs_error *err) {
    (void)bs_cli_wrong("%s", err->message);
    return code == BS_E_INVALID ? 2 : code == BS_E_DENIED ? BS_CLI_DENIED : 1;
}

static int execute(struct bs_module_request *request) {
    struct bs_module_result result = BS_MODULE_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    struct bs_buf input = BS_BUF_INIT;
    int status = 0;
    if (!read_stdin(&input)) {
        status = bs_cli_wrong("the input cannot be read from stdin");
        goto finish;
    }
    request->input = input.len > 0 ? input.data : "";
    request->input_len = input.len;
    int code = bs_module_execute(request, &result, &err);
    if (code == BS_OK)
        status = show(&result);
    else
        status = failed(code, &err);
finish:
    bs_module_result_clear(&result);
    bs_buf_clear(&input);
    return status;
}

enum { ROOT = 2000, TIMEOUT, HELP };

static const struct option options[] = {{"root", required_argument, NULL, ROOT},
                                        {"timeout", required_argument, NULL, TIMEOUT},
                                        BS_CLI_INSIDE_OPTIONS,
                                        {"help", no_argument, NULL, HELP},
                                        {NULL, 0, NULL, 0}};

struct command {
    struct bs_module_request request;
    struct bs_cli_inside inside;
};

static int parse_option(void *state, int option, const char *word) {
    struct command *command = state;
    struct bs_module_request *request = &command->request;
    int status = bs_cli_inside_option(&command->inside, option, optarg);
    if (status >= 0)
        return status;
    switch (option) {
    case ROOT:
        request->extensions_root = optarg;
        return 0;
    case TIMEOUT:
        return bs_cli_duration_ms(optarg, &request->timeout_ms) && request->timeout_ms > 0
                   ? 0
                   : bs_cli_wrong("--timeout %s: write 250ms, 2s or 5m, and not 0", optarg);
    case HELP:
        bs_cli_inside_help(help, help_end);
        return 1;
    default:
        return bs_cli_wrong("%s: unknown option, or its value is missing; see module --help", word);
    }
}

static int module(struct command *command, int argc, char **argv) {
    struct bs_cli_inside *inside = &command->inside;
    if (argc != 1)
        return bs_cli_wrong("name one module id; see module --help");
    int status = bs_cli_inside_read(inside);
    if (status != 0)
        return status;
    command->request.id = argv[0];
    status = bs_cli_inside_open(inside);
    command->request.sandbox = bs_cli_inside_sandbox(inside);
    if (status == 0)
        status = execute(&command->request);
    bs_cli_inside_close(inside);
    return status;
}

int bs_cli_module(int argc, char **argv) {
    struct command command = {.request = BS_MODULE_REQUEST_INIT};
    int status = bs_cli_inside_init(&command.inside, argc) ? 0 : 2;
    if (status == 0)
        status = bs_cli_handle_options(argc, argv, options, true, parse_option, &command);
    if (status == 0)
        status = module(&command, argc - optind, argv + optind);
    else if (status == 1)
        status = 0;
    bs_cli_inside_clear(&command.inside);
    return status;
}
