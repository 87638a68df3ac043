#define _GNU_SOURCE
#include <boxspec/process.h>

#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/inside.h"

static const char help[] =
    "usage: boxspec-ref bridge [options] -- PROGRAM [ARGUMENT...]\n"
    "\n"
    "Runs a program behind this command's stdin, stdout and stderr, for clients that speak to a\n"
    "server over them. The end of stdin is the end of its stdin. SIGINT or SIGTERM gives its\n"
    "whole process group 1.5 s; whatever ends this command, nothing of the group lives on.\n"
    "\n"
    "  --backend NAME         run it inside a sandbox: landlock, landlock+seccomp, bubblewrap or\n"
    "                         bubblewrap+seccomp\n"
    "  --root DIR             the workspace of the sandbox, where the program starts\n";

static const char help_end[] =
    "  --help                 this text\n"
    "\n"
    "Exit status: the program's, or 128 and the signal that it died of; 126 or 127 where it could\n"
    "not be started; 3 refused by the sandbox; 2 for a wrong call. What a sandbox does not "
    "enforce\n"
    "is reported on stderr before the program starts.\n";

enum { ROOT = 2000, HELP };

static const struct option options[] = {{"root", required_argument, NULL, ROOT},
                                        BS_CLI_INSIDE_OPTIONS,
                                        {"help", no_argument, NULL, HELP},
                                        {NULL, 0, NULL, 0}};

static int relay(const struct bs_exec_request *request, const struct bs_sandbox *sandbox) {
    struct bs_process_end end;
    struct bs_error err = BS_ERROR_INIT;
    if (bs_process_bridge(request, sandbox, &end, &err) != BS_OK) {
        (void)bs_cli_wrong("%s", err.message);
        return err.os_error == ENOENT ? 127 : 126;
    }
    return end.state == BS_PROCESS_EXITED ? end.number : 128 + end.number;
}

static int bridge(struct bs_cli_inside *inside, int argc, char **argv) {
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    if (argc == 0)
        return bs_cli_wrong("no program; write boxspec-ref bridge -- PROGRAM [ARGUMENT...]");
    if ((inside->backend == NULL) != (inside->context.root == NULL))
        return bs_cli_wrong("--backend NAME and --root DIR go together");
    int status = bs_cli_inside_read(inside);
    if (status != 0)
        return status;
    request.program = argv[0];
    request.args = (const char *const *)(argv + 1);
    request.n_args = (size_t)argc - 1;
    status = bs_cli_inside_open(inside);
    request.current_dir = bs_cli_inside_cwd(inside);
    if (status == 0)
        status = relay(&request, bs_cli_inside_sandbox(inside));
    bs_cli_inside_close(inside);
    return status;
}

/* Handle an option. Returns 0; 1 after --help; 2 after printing a message about wrong usage. */
static int parse(struct bs_cli_inside *inside, int option, const char *word) {
    int status = bs_cli_inside_option(inside, option, optarg);
    if (status >= 0)
        return status;
    if (option == ROOT) {
        inside->context.root = optarg;
        return 0;
    }
    if (option != HELP)
        return bs_cli_wrong("%s: unknown option, or its value is missing; see bridge --help", word);
    bs_cli_inside_help(help, help_end);
    return 1;
}

int bs_cli_bridge(int argc, char **argv) {
    struct bs_cli_inside inside;
    int status = bs_cli_inside_init(&inside, argc) ? 0 : 2;
    int option = 0;
    opterr = 0;
    optind = 1;
    /* The "+" ends the options at PROGRAM, because options after it belong to PROGRAM. */
    while (status == 0 && (option = getopt_long(argc, argv, "+:", options, NULL)) != -1)
        status = parse(&inside, option, argv[optind - 1]);
    if (status == 0)
        status = bridge(&inside, argc - optind, argv + optind);
    else if (status == 1)
        status = 0;
    bs_cli_inside_clear(&inside);
    return status;
}
