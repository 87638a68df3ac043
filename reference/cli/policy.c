#define _GNU_SOURCE
#include "cli/policy.h"

#include <string.h>

#include "cli/commands.h"

static const char help[] =
    "usage: boxspec-ref policy COMMAND [options] ...\n"
    "\n"
    "  check POLICY read|modify PATH...    print whether each path may be read or modified\n"
    "  explain POLICY read|modify PATH...  print all rules in order, and mark those that match\n"
    "                                      and the one that decides\n"
    "  why-not POLICY read|modify PATH...  print the smallest changes that would allow the path\n"
    "  lint POLICY...                      print problems and warnings\n"
    "  merge GLOBAL WORKSPACE              print the merged policy\n"
    "  print POLICY                        print the policy in its normal form\n"
    "  migrate FILE                        print a draft of version 2 for a file of version 1\n"
    "  links ROOT                          print files with several names (hard links)\n"
    "\n"
    "  --profile NAME         profile of the policy (default: unrestricted)\n"
    "  --workspace FILE       a policy to merge over POLICY\n"
    "  --format json|yaml     format of the files (default: by their names); `-` is stdin\n"
    "  --to json|yaml         merge, print: format of the output (default: as GLOBAL or POLICY)\n"
    "  --fold                 treat names that differ only in case as the same\n"
    "  --root DIR             check: follow links of PATH below DIR; the place to which they\n"
    "                         lead must be allowed too\n"
    "  --parent               with --root: do not follow PATH itself, for unlink and rename\n"
    "  --audit                check: print audit events, one line of JSON each\n"
    "  --most N               links: limit of names to examine (default: 1000000); lint: limit\n"
    "                         of problems and warnings for each file (default: 100)\n"
    "  --help                 this text\n"
    "\n"
    "Paths are relative to the root of the workspace. Problems of a file are printed to stderr,\n"
    "one per line: FILE:LINE:COLUMN: MESSAGE.\n"
    "Exit status: 0 allowed or done; 3 denied; 2 wrong usage, policy or path; 4 another failure.\n";

static const struct option long_options[] = {{"profile", required_argument, NULL, 'p'},
                                             {"workspace", required_argument, NULL, 'w'},
                                             {"format", required_argument, NULL, 'f'},
                                             {"to", required_argument, NULL, 't'},
                                             {"fold", no_argument, NULL, 'F'},
                                             {"root", required_argument, NULL, 'r'},
                                             {"parent", no_argument, NULL, 'P'},
                                             {"audit", no_argument, NULL, 'a'},
                                             {"most", required_argument, NULL, 'm'},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};

static const struct command {
    const char *name;
    int (*run)(const struct bs_cli_options *options);
    const char *options; /* letters of the options that it accepts */
} commands[] = {
    {"check", bs_cli_policy_check, "pwfFrPa"},  {"explain", bs_cli_policy_explain, "pwfF"},
    {"why-not", bs_cli_policy_why_not, "pwfF"}, {"lint", bs_cli_policy_lint, "wfm"},
    {"merge", bs_cli_policy_merge, "ft"},       {"print", bs_cli_policy_print, "wft"},
    {"migrate", bs_cli_policy_migrate, "f"},    {"links", bs_cli_policy_links, "m"},
};

static const char *name_of(int option) {
    const struct option *at = long_options;
    while (at->val != option)
        at++;
    return at->name;
}

struct invocation {
    const struct command *command;
    struct bs_cli_options options;
};

static int parse_option(void *state, int option, const char *word) {
    struct invocation *invocation = state;
    struct bs_cli_options *options = &invocation->options;
    const struct command *command = invocation->command;
    if (option != 'h' && option != ':' && option != '?' && strchr(command->options, option) == NULL)
        return bs_cli_wrong("--%s is no option of policy %s; see boxspec-ref policy --help",
                            name_of(option), command->name);
    switch (option) {
    case 'p':
        options->profile = optarg;
        return 0;
    case 'w':
        options->workspace = optarg;
        return 0;
    case 'f':
        options->format = optarg;
        return 0;
    case 't':
        options->to = optarg;
        return 0;
    case 'F':
        options->fold = true;
        return 0;
    case 'r':
        options->root = optarg;
        return 0;
    case 'P':
        options->parent = true;
        return 0;
    case 'a':
        options->audit = true;
        return 0;
    case 'm':
        if (!bs_cli_size(optarg, &options->most))
            return bs_cli_wrong("--most %s: write a number such as 5000000", optarg);
        return 0;
    case 'h':
        (void)fputs(help, stdout);
        return 1;
    case ':':
        return bs_cli_wrong("%s: a value is missing; see boxspec-ref policy --help", word);
    default:
        return bs_cli_wrong("%s: unknown option; see boxspec-ref policy --help", word);
    }
}

static int run(const struct command *command, int argc, char **argv) {
    struct invocation invocation = {.command = command};
    int status = bs_cli_handle_options(argc, argv, long_options, false, parse_option, &invocation);
    if (status != 0)
        return status == 1 ? 0 : status;
    invocation.options.argc = argc - optind;
    invocation.options.argv = argv + optind;
    return bs_cli_flushed(command->run(&invocation.options));
}

int bs_cli_policy(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        (void)fputs(help, stdout);
        return 0;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(name, commands[i].name) == 0)
            return run(&commands[i], argc - 1, argv + 1);
    }
    if (name[0] == '\0') {
        (void)fputs(help, stderr);
        return 2;
    }
    return bs_cli_wrong("policy %s: unknown command; see boxspec-ref policy --help", name);
}
