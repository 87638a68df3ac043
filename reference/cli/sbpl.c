#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include <boxspec/sbpl.h>

#include "cli/commands.h"
#include "cli/policy.h"

static const char help[] =
    "usage: boxspec-ref sbpl POLICY --root DIR [options]\n"
    "\n"
    "Prints a profile of a policy as text for sandbox-exec of macOS. This works on any system.\n"
    "\n"
    "  --root DIR             the workspace: an absolute path without links\n"
    "  --profile NAME         profile of the policy (default: unrestricted)\n"
    "  --workspace FILE       a policy to merge over POLICY\n"
    "  --format json|yaml     format of the files (default: by their names); `-` is stdin\n"
    "  --provider NAME        the agent that will run: codex, claude or gemini\n"
    "  --side-root DIR        writable for codex in addition to the rules; may be repeated\n"
    "  --case fold            treat names that differ only in case as the same\n"
    "  --help                 this text\n"
    "\n"
    "The variables HOME, CODEX_HOME and CLAUDE_CONFIG_DIR name the directories of the agents' "
    "state.\n"
    "A deny that begins with a wildcard has a weakness: a program may rename a directory above a\n"
    "denied path. These rules are printed to stderr.\n"
    "Exit status: 0 done; 2 wrong usage, policy or path; 4 another failure.\n";

static const struct option long_options[] = {{"root", required_argument, NULL, 'r'},
                                             {"profile", required_argument, NULL, 'p'},
                                             {"workspace", required_argument, NULL, 'w'},
                                             {"format", required_argument, NULL, 'f'},
                                             {"provider", required_argument, NULL, 'P'},
                                             {"side-root", required_argument, NULL, 's'},
                                             {"case", required_argument, NULL, 'c'},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};

struct asked {
    struct bs_cli_options options;
    struct bs_sbpl_input input;
    const char **side_roots; /* has room for all arguments */
};

static int parse_option(void *state, int option, const char *word) {
    struct asked *asked = state;
    switch (option) {
    case 'r':
        asked->input.root = optarg;
        return 0;
    case 'p':
        asked->options.profile = optarg;
        return 0;
    case 'w':
        asked->options.workspace = optarg;
        return 0;
    case 'f':
        asked->options.format = optarg;
        return 0;
    case 'P':
        return bs_sbpl_provider(optarg, &asked->input.provider)
                   ? 0
                   : bs_cli_wrong("--provider %s: one of codex, claude, gemini", optarg);
    case 's':
        asked->side_roots[asked->input.n_side_roots++] = optarg;
        return 0;
    case 'c':
        asked->options.fold = strcmp(optarg, "fold") == 0;
        return asked->options.fold || strcmp(optarg, "sensitive") == 0
                   ? 0
                   : bs_cli_wrong("--case %s: fold or sensitive", optarg);
    case 'h':
        (void)fputs(help, stdout);
        return 1;
    case ':':
        return bs_cli_wrong("%s: a value is missing; see boxspec-ref sbpl --help", word);
    default:
        return bs_cli_wrong("%s: unknown option; see boxspec-ref sbpl --help", word);
    }
}

static int print(const struct asked *asked) {
    struct bs_sbpl sbpl = BS_SBPL_INIT;
    struct bs_error err = BS_ERROR_INIT;
    int code = bs_sbpl_compile(&asked->input, &sbpl, &err);
    if (code != BS_OK)
        return bs_cli_failed(code, &err);
    (void)fwrite(sbpl.text.data, 1, sbpl.text.len, stdout);
    for (size_t i = 0; i < sbpl.n_unguarded; i++) {
        (void)fputs("boxspec-ref: a directory above `", stderr);
        bs_cli_put_text(stderr, sbpl.unguarded[i]->rule, sbpl.unguarded[i]->rule_len);
        (void)fputs("` can be renamed, and then the denied paths can be read\n", stderr);
    }
    bs_sbpl_clear(&sbpl);
    return bs_cli_flushed(0);
}

static int compile(struct asked *asked) {
    struct bs_policy *policy = NULL;
    struct bs_profile *profile = NULL;
    struct bs_error err = BS_ERROR_INIT;
    struct bs_sbpl_input *input = &asked->input;
    if (asked->options.argc != 1 || input->root == NULL)
        return bs_cli_wrong("name a policy and a root: boxspec-ref sbpl POLICY --root DIR");
    int status = bs_cli_load_policy(&asked->options, asked->options.argv[0],
                                    asked->options.workspace, false, &policy);
    if (status != 0)
        return status;
    int code = bs_profile_compile(policy, asked->options.profile, asked->options.fold ? BS_FOLD : 0,
                                  &profile, &err);
    if (code == BS_OK) {
        input->profile = profile;
        input->side_roots = asked->side_roots;
        input->home = getenv("HOME");
        input->codex_home = getenv("CODEX_HOME");
        input->claude_config_dir = getenv("CLAUDE_CONFIG_DIR");
        status = print(asked);
    } else {
        status = bs_cli_failed(code, &err);
    }
    bs_profile_free(profile);
    bs_policy_free(policy);
    return status;
}

int bs_cli_sbpl(int argc, char **argv) {
    struct asked asked = {.input = BS_SBPL_INPUT_INIT};
    asked.side_roots = calloc((size_t)argc + 1, sizeof *asked.side_roots);
    if (asked.side_roots == NULL) {
        (void)bs_cli_wrong("out of memory for %d words", argc);
        return BS_CLI_ELSEWHERE;
    }
    int status = bs_cli_handle_options(argc, argv, long_options, false, parse_option, &asked);
    asked.options.argc = argc - optind;
    asked.options.argv = argv + optind;
    if (status == 0)
        status = compile(&asked);
    else if (status == 1)
        status = 0;
    free((void *)asked.side_roots);
    return status;
}
