/* boxspec-runner: the runner of modules as a program of its own.
 *
 * A program without shared libraries starts several times as fast as most callers do. */
#include <boxspec/module.h>

#include <stdio.h>

int main(int argc, char **argv) {
    bs_module_runner_main(argc, argv);
    (void)fputs("usage: boxspec-runner " BS_MODULE_RUNNER " ID <INPUT\n"
                "Execute the module ID. bs_module_execute (boxspec/module.h) calls this program.\n",
                stderr);
    return 2;
}
