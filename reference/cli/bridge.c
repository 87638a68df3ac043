#define _GNU_SOURCE
#include <boxspec/process.h>

#include <errno.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/inside.h"

static const char help[] =
    "usage: boxspec-ref bridge [options] -- PROGRAM [ARGUMENT...]\n"
    "\n"
    "Runs PROGRAM and connects its stdin, stdout and stderr to those of this command, for clients\n"
    "that talk to a server over stdio. At the end of stdin, the stdin of PROGRAM is closed. After\n"
    "SIGINT or SIGTERM, the process group of PROGRAM gets SIGTERM, and SIGKILL 1.5 s later. "
    "However\n"
    "this command ends, no process of the group remains.\n"
    "\n"
    "  --backend NAME         run PROGRAM in a sandbox: landlock, landlock+seccomp, bubblewrap or\n"
    "                         bubblewrap+seccomp\n"
    "  --root DIR             the workspace of the sandbox, in which PROGRAM starts\n";

static const char help_end[] =
    "  --help                 this text\n"
    "\n"
    "Exit status: that of PROGRAM; 128+N if signal N ended PROGRAM; 126 or 127 if PROGRAM could\n"
    "not be started; 3 if the sandbox refused it; 2 for wrong usage. Rules that the sandbox does\n"
    "not enforce are reported on stderr before PROGRAM starts.\n";

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

static int parse_option(void *state, int option, const char *word) {
    struct bs_cli_inside *inside = state;
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
    if (status == 0)
        status = bs_cli_handle_options(argc, argv, options, true, parse_option, &inside);
    if (status == 0)
        status = bridge(&inside, argc - optind, argv + optind);
    else if (status == 1)
        status = 0;
    bs_cli_inside_clear(&inside);
    return status;
}
