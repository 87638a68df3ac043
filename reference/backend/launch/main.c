#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <boxspec/version.h>

#include "backend/launch/launch.h"
#include "backend/plan/plan.h"
#include "base/sys.h"

static const char help[] =
    "usage: boxspec-launch --plan FILE [--chdir DIR] [--report] [--own-stdin] -- PROGRAM\n"
    "                      [ARGUMENT...]\n"
    "\n"
    "Confines PROGRAM by the plan in FILE, starts it, and ends in the same way as PROGRAM. The\n"
    "boxspec library writes FILE and starts this command. Send SIGINT and SIGTERM to its process\n"
    "group: PROGRAM then has 5 s to end. Exit status: that of PROGRAM, or 125 if PROGRAM could\n"
    "not be started.\n";

static int usage_error(const char *problem) {
    (void)fprintf(stderr, "boxspec-launch: %s; see boxspec-launch --help\n", problem);
    return BS_LAUNCH_FAILED;
}

/* Start as pid 1. The arguments are: --inside filtered|bare reports|silent READ-ONLY MASK DIR
 * HANDLED [RIGHTS PATH]... */
static int start_inside(int argc, char **argv) {
    enum { FIRST_GRANT = 8 };
    if (argc < FIRST_GRANT || argc % 2 != 0 || getpid() != 1)
        return usage_error(BS_LAUNCH_INSIDE " is for the launcher itself");
    struct program program = {.cwd = argv[6]};
    struct inside_options options = {.filtered = strcmp(argv[2], "filtered") == 0,
                                     .reports_start = strcmp(argv[3], "reports") == 0,
                                     .read_only_proc = argv[4],
                                     .mask = argv[5]};
    struct grants *grants = &options.grants;
    grants->paths = calloc((size_t)argc, sizeof *grants->paths);
    bool good = grants->paths != NULL && rights_parse(argv[7], &grants->handled.fs);
    for (int i = FIRST_GRANT; good && i < argc; i += 2)
        good = grant_parse(argv[i], argv[i + 1], &grants->paths[grants->n_paths++]);
    return good ? run_inside(&options, &program) : usage_error("grants of " BS_LAUNCH_INSIDE);
}

/* Report a missing or malformed plan in the same form as any other failure to start the program. */
static int give_up(const struct bs_launch_failure *failure, bool reports) {
    if (reports)
        (void)!BS_RETRY(write(BS_LAUNCH_REPORT_FD, failure, sizeof *failure));
    else
        (void)fprintf(stderr, "boxspec-launch: %s\n", failure->words);
    return BS_LAUNCH_FAILED;
}

int main(int argc, char **argv, char **envp) {
    if (argc > 1 && strcmp(argv[1], BS_LAUNCH_INSIDE) == 0)
        return start_inside(argc, argv);
    struct program program = {.envp = envp};
    const char *file = NULL;
    bool reports = false;
    bool own_stdin = false;
    int at = 1;
    for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
        bool has_value = at + 1 < argc;
        if (strcmp(argv[at], "--help") == 0) {
            (void)fputs(help, stdout);
            return 0;
        }
        if (strcmp(argv[at], "--version") == 0) {
            (void)puts("boxspec-launch " BOXSPEC_VERSION);
            return 0;
        }
        if (strcmp(argv[at], BS_LAUNCH_REPORT) == 0)
            reports = true;
        else if (strcmp(argv[at], BS_LAUNCH_OWN_STDIN) == 0)
            own_stdin = true;
        else if (strcmp(argv[at], BS_LAUNCH_PLAN) == 0 && has_value)
            file = argv[++at];
        else if (strcmp(argv[at], BS_LAUNCH_CHDIR) == 0 && has_value)
            program.cwd = argv[++at];
        else
            return usage_error("an unknown option, or one without its value");
    }
    if (file == NULL || at + 1 >= argc)
        return usage_error("no --plan, or no program");
    program.argv = argv + at + 1;
    struct plan plan;
    struct bs_launch_failure failure;
    if (!plan_read(file, &plan, &failure))
        return give_up(&failure, reports);
    return run_outside(&plan, &program, reports, own_stdin);
}
