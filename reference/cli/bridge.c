#define _GNU_SOURCE
#include <boxspec/process.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

static const char help[] =
    "usage: boxspec-ref bridge -- PROGRAM [ARGUMENT...]\n"
    "\n"
    "Runs a program behind this command's stdin, stdout and stderr, for clients that speak to a\n"
    "server over them. The end of stdin is the end of its stdin. SIGINT or SIGTERM gives its "
    "whole\n"
    "process group 1.5 s; whatever ends this command, nothing of the group lives on.\n"
    "\n"
    "exit status: the program's, or 128 and the signal that it died of; 126 or 127 where it could\n"
    "not be started; 2 for a wrong call\n";

int bs_cli_bridge(int argc, char **argv) {
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    struct bs_process_end end;
    struct bs_error err = BS_ERROR_INIT;
    int first = argc > 1 && strcmp(argv[1], "--") == 0 ? 2 : 1;
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        (void)fputs(help, stdout);
        return 0;
    }
    if (argc > 1 && first == 1 && argv[1][0] == '-')
        return bs_cli_wrong("%s: unknown option; see bridge --help", argv[1]);
    if (argc <= first)
        return bs_cli_wrong("no program; write boxspec-ref bridge -- PROGRAM [ARGUMENT...]");
    request.program = argv[first];
    request.args = (const char *const *)(argv + first + 1);
    request.n_args = (size_t)(argc - first - 1);
    if (bs_process_bridge(&request, NULL, &end, &err) != BS_OK) {
        (void)bs_cli_wrong("%s", err.message);
        return err.os_error == ENOENT ? 127 : 126;
    }
    return end.state == BS_PROCESS_EXITED ? end.number : 128 + end.number;
}
