#include <stdio.h>
#include <string.h>

#include <boxspec/module.h>
#include <boxspec/version.h>

#include "cli/commands.h"
#include "shim/modes.h"

static const char help[] =
    "usage: boxspec-ref COMMAND ...\n"
    "\n"
    "  exec [options] -- PROGRAM [ARGUMENT...]   run a program under supervision; exec --help\n"
    "  bridge [options] -- PROGRAM [ARGUMENT...] run a program on the stdin and stdout of this\n"
    "                                            command; bridge --help\n"
    "  module [options] ID < INPUT.json          execute a module in a child; module --help\n"
    "  policy COMMAND ...                        check, explain and print policies; policy --help\n"
    "  sbpl POLICY --root DIR ...                print a profile for sandbox-exec; sbpl --help\n"
    "  sandbox [options] -- PROGRAM ...          run a program inside a sandbox; sandbox --help\n"
    "  run REQUEST RESPONSE                      answer one request of the shim protocol in a "
    "file\n"
    "  serve                                     answer requests on stdin, one per line\n"
    "  --version, --help\n";

int main(int argc, char **argv) {
    bs_module_runner_main(argc, argv);
    const char *command = argc > 1 ? argv[1] : "";
    if (strcmp(command, "exec") == 0)
        return bs_cli_exec(argc - 1, argv + 1);
    if (strcmp(command, "bridge") == 0)
        return bs_cli_bridge(argc - 1, argv + 1);
    if (strcmp(command, "module") == 0)
        return bs_cli_module(argc - 1, argv + 1);
    if (strcmp(command, "policy") == 0)
        return bs_cli_policy(argc - 1, argv + 1);
    if (strcmp(command, "sbpl") == 0)
        return bs_cli_sbpl(argc - 1, argv + 1);
    if (strcmp(command, "sandbox") == 0)
        return bs_cli_sandbox(argc - 1, argv + 1);
    if (strcmp(command, "run") == 0) {
        if (argc != 4)
            return bs_cli_wrong("run takes two files: boxspec-ref run REQUEST RESPONSE");
        return bs_shim_run(argv[2], argv[3]);
    }
    if (strcmp(command, "serve") == 0) {
        if (argc != 2)
            return bs_cli_wrong("serve takes no arguments");
        return bs_shim_serve();
    }
    if (strcmp(command, "--version") == 0) {
        (void)puts("boxspec-ref " BOXSPEC_VERSION);
        return 0;
    }
    if (strcmp(command, "--help") == 0 || strcmp(command, "-h") == 0) {
        (void)fputs(help, stdout);
        return 0;
    }
    if (command[0] == '\0') {
        (void)fputs(help, stderr);
        return 2;
    }
    return bs_cli_wrong("%s: unknown command; see boxspec-ref --help", command);
}
