#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <boxspec/backend.h>

#include "base/sys.h"
#include "cli/commands.h"
#include "cli/policy.h"

static const char help[] =
    "usage: boxspec-ref sandbox --root DIR [options] -- PROGRAM [ARGUMENT...]\n"
    "\n"
    "Runs PROGRAM inside a sandbox and supervised as by `boxspec-ref exec`.\n"
    "\n"
    "  --root DIR             the workspace\n"
    "  --backend NAME         landlock, landlock+seccomp, bubblewrap, bubblewrap+seccomp "
    "(default)\n"
    "                         or none\n"
    "  --confine PROFILE      read-only, repo-write (default), no-network, full-dev or ci-only\n"
    "  --policy FILE          what is denied inside the workspace\n"
    "  --profile NAME         of the policy (default: unrestricted)\n"
    "  --workspace FILE       a policy to be merged over that of --policy\n"
    "  --format json|yaml     of the files (default: by their names)\n"
    "  --egress HOST:PORT     where connections may go; may be repeated\n"
    "  --strict-metadata      landlock+seccomp: refuse chmod, chown, times and attributes\n"
    "  --on-unavailable WHAT  refuse (default): run only what is fully enforced;\n"
    "                         degrade: run anyway, and say what is not\n"
    "  --timeout TIME         end the run after TIME: 250ms, 2s, 5m, 1h\n"
    "  --explain              say what would be run and what is not enforced, and run nothing\n"
    "  --help                 this text\n"
    "\n"
    "What is not enforced is said on stderr. Exit status: that of PROGRAM; 124 time is up;\n"
    "126 PROGRAM could not be run; 127 PROGRAM does not exist; 128+N a signal N ended PROGRAM or\n"
    "this command; 3 refused by the sandbox; 2 wrong usage.\n";

enum option_code {
    ROOT = 1000,
    BACKEND,
    CONFINE,
    POLICY,
    PROFILE,
    WORKSPACE,
    FORMAT,
    EGRESS,
    STRICT,
    UNAVAILABLE,
    TIMEOUT,
    EXPLAIN,
    HELP
};

static const struct option long_options[] = {
    {"root", required_argument, NULL, ROOT},
    {"backend", required_argument, NULL, BACKEND},
    {"confine", required_argument, NULL, CONFINE},
    {"policy", required_argument, NULL, POLICY},
    {"profile", required_argument, NULL, PROFILE},
    {"workspace", required_argument, NULL, WORKSPACE},
    {"format", required_argument, NULL, FORMAT},
    {"egress", required_argument, NULL, EGRESS},
    {"strict-metadata", no_argument, NULL, STRICT},
    {"on-unavailable", required_argument, NULL, UNAVAILABLE},
    {"timeout", required_argument, NULL, TIMEOUT},
    {"explain", no_argument, NULL, EXPLAIN},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0}};

struct asked {
    const struct bs_backend *backend;
    struct bs_backend_context context;
    struct bs_backend_policy policy;
    struct bs_cli_options files;
    const char *policy_file;
    char *root;
    const char **egress; /* room for all words */
    enum bs_on_unavailable on_unavailable;
    uint64_t timeout_ms;
    bool has_timeout;
    bool explains;
};

/* 0: go on; 1: help was asked for; 2: wrong usage, said on stderr. */
static int parse_option(struct asked *asked, int option, const char *word) {
    switch (option) {
    case ROOT:
        asked->context.root = optarg;
        return 0;
    case BACKEND:
        asked->backend = bs_backend_find(optarg);
        return asked->backend != NULL
                   ? 0
                   : bs_cli_wrong("--backend %s: there is no such backend; see --help", optarg);
    case CONFINE:
        return bs_confine_parse(optarg, &asked->context.confine)
                   ? 0
                   : bs_cli_wrong("--confine %s: read-only, repo-write, no-network, full-dev or "
                                  "ci-only",
                                  optarg);
    case POLICY:
        asked->policy_file = optarg;
        return 0;
    case PROFILE:
        asked->policy.profile = optarg;
        return 0;
    case WORKSPACE:
        asked->files.workspace = optarg;
        return 0;
    case FORMAT:
        asked->files.format = optarg;
        return 0;
    case EGRESS:
        asked->egress[asked->context.n_egress++] = optarg;
        return 0;
    case STRICT:
        asked->context.strict_metadata = true;
        return 0;
    case UNAVAILABLE:
        asked->on_unavailable = strcmp(optarg, "degrade") == 0 ? BS_DEGRADE : BS_REFUSE;
        return asked->on_unavailable == BS_DEGRADE || strcmp(optarg, "refuse") == 0
                   ? 0
                   : bs_cli_wrong("--on-unavailable %s: refuse or degrade", optarg);
    case TIMEOUT:
        asked->has_timeout = bs_cli_duration_ms(optarg, &asked->timeout_ms);
        return asked->has_timeout
                   ? 0
                   : bs_cli_wrong("--timeout %s: write a time such as 250ms, 2s or 5m", optarg);
    case EXPLAIN:
        asked->explains = true;
        return 0;
    case HELP:
        (void)fputs(help, stdout);
        return 1;
    case ':':
        return bs_cli_wrong("%s: a value is missing; see boxspec-ref sandbox --help", word);
    default:
        return bs_cli_wrong("%s: unknown option; see boxspec-ref sandbox --help", word);
    }
}

static void put_line(FILE *to, const char *before, const char *text, const char *after) {
    (void)fputs(before, to);
    bs_cli_put_text(to, text, strlen(text));
    (void)fprintf(to, "%s\n", after);
}

enum { MOST_LINKS = 20 };

static void put_report(FILE *to, const struct bs_backend_report *report, bool claims) {
    for (int i = 0; claims && i < BS_ASPECTS; i++)
        (void)fprintf(to, "%-12s %s\n", bs_aspect_name((enum bs_aspect)i),
                      bs_claim_name(report->aspects[i].claim));
    for (int i = 0; i < BS_ASPECTS; i++) {
        const struct bs_aspect_claim *claim = &report->aspects[i];
        for (size_t j = 0; claim->claim > BS_CLAIM_FULLY && j < claim->n_reasons; j++) {
            (void)fprintf(to, "not enforced: %s: ", bs_aspect_name((enum bs_aspect)i));
            put_line(to, "", claim->reasons[j], "");
        }
    }
    for (size_t i = 0; i < report->n_unenforced; i++) {
        put_line(to, "rule not enforced: ", report->unenforced[i].rule, ":");
        put_line(to, "    ", report->unenforced[i].why, "");
    }
    /* A clone that git made by links has as many as it has objects. */
    size_t shown = report->n_hard_links < MOST_LINKS ? report->n_hard_links : MOST_LINKS;
    for (size_t i = 0; i < shown; i++)
        put_line(to, "has another name outside: ", report->hard_links[i], "");
    if (shown < report->n_hard_links)
        (void)fprintf(to, "have another name outside: %zu more\n", report->n_hard_links - shown);
    for (size_t i = 0; i < report->n_violations; i++) {
        put_line(to, "changed against a rule: ", report->violations[i].path, "");
        put_line(to, "    ", report->violations[i].rule, "");
    }
    for (size_t i = 0; i < report->n_warnings; i++)
        put_line(to, "warning: ", report->warnings[i], "");
}

/* The command, a word a line, and the plan that it names. */
static void put_command(void *ctx, const char *call, int code, const char *message,
                        const struct bs_backend_report *report, const struct bs_wrapped *wrapped) {
    const struct asked *asked = ctx;
    (void)code;
    (void)message;
    (void)report;
    if (!asked->explains || wrapped == NULL || strcmp(call, "wrap") != 0)
        return;
    for (size_t i = 0; wrapped->argv[i] != NULL; i++)
        put_line(stdout, "argv         ", wrapped->argv[i], "");
    for (size_t i = 0; i < wrapped->n_env; i++) {
        (void)fprintf(stdout, "env          %s=", wrapped->env[i].name);
        put_line(stdout, "", wrapped->env[i].value, "");
    }
    FILE *plan = wrapped->launches ? fopen(wrapped->argv[2], "re") : NULL;
    char *entry = NULL;
    size_t size = 0;
    while (plan != NULL && getdelim(&entry, &size, '\0', plan) > 0)
        put_line(stdout, "plan         ", entry, "");
    free(entry);
    if (plan != NULL)
        (void)fclose(plan);
}

static void pass_on(void *ctx, enum bs_stream stream, const char *data, size_t len) {
    (void)ctx;
    int fd = stream == BS_STDOUT ? 1 : 2;
    while (len > 0) {
        ssize_t n = (ssize_t)BS_RETRY(write(fd, data, len));
        if (n < 0)
            return; /* nobody reads: the run itself goes on */
        data += n;
        len -= (size_t)n;
    }
}

static int status_of(const struct bs_exec_result *result) {
    if (result->has_exit_code)
        return result->exit_code;
    return result->termination == BS_ENDED_TIMEOUT ? 124 : 128 + result->signal;
}

static int run_program(struct bs_session *session, const struct asked *asked, char **argv,
                       size_t argc) {
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    request.program = argv[0];
    request.args = (const char *const *)(argv + 1);
    request.n_args = argc - 1;
    request.timeout_ms = asked->has_timeout ? &asked->timeout_ms : NULL;
    request.on_output = pass_on;
    /* A closed reader must not end the supervision. */
    (void)signal(SIGPIPE, SIG_IGN);
    int code = bs_session_run(session, &request, &result, &err);
    if (code != BS_OK) {
        (void)bs_cli_wrong("%s", err.message);
        return err.os_error == ENOENT ? 127 : 126;
    }
    if (result.err.len > 0)
        (void)fprintf(stderr, "%s\n", result.err.data);
    int status = status_of(&result);
    bs_exec_result_clear(&result);
    return status;
}

/* A command that nothing runs: it is wrapped to be looked at. */
static int explain(struct bs_session *session, char **argv, size_t argc) {
    struct bs_error err = BS_ERROR_INIT;
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    request.program = argv[0];
    request.args = (const char *const *)(argv + 1);
    request.n_args = argc - 1;
    int code = bs_session_explain(session, &request, &err);
    return code == BS_OK ? 0 : bs_cli_failed(code, &err);
}

static int open_and_run(struct asked *asked, char **argv, size_t argc) {
    struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
    struct bs_session *session = NULL;
    struct bs_error err = BS_ERROR_INIT;
    const struct bs_session_log log = {asked, put_command};
    int code = bs_session_open(asked->backend, &asked->context, asked->on_unavailable, &log,
                               &session, &report, &err);
    put_report(asked->explains ? stdout : stderr, &report, asked->explains);
    int status = 0;
    if (code != BS_OK) {
        (void)bs_cli_wrong("%s", err.message);
        status = code == BS_E_DENIED ? BS_CLI_DENIED : code == BS_E_INVALID ? 2 : BS_CLI_ELSEWHERE;
    } else if (asked->explains) {
        status = explain(session, argv, argc);
    } else {
        status = run_program(session, asked, argv, argc);
        struct bs_backend_report found = BS_BACKEND_REPORT_INIT;
        if (bs_session_scan(session, &found, &err) != BS_OK)
            (void)bs_cli_wrong("the workspace could not be looked at again: %s", err.message);
        put_report(stderr, &found, false);
        bs_backend_report_clear(&found);
    }
    if (bs_session_close(session, &err) != BS_OK)
        (void)bs_cli_wrong("%s", err.message);
    bs_backend_report_clear(&report);
    return status;
}

static int read_policies(struct asked *asked, struct bs_cli_file *files) {
    int status = bs_cli_read_policy(&asked->files, asked->policy_file, &files[0]);
    if (status == 0 && asked->files.workspace != NULL)
        status = bs_cli_read_policy(&asked->files, asked->files.workspace, &files[1]);
    for (int i = 0; i < 2; i++) {
        const struct bs_bytes *bytes = &files[i].bytes;
        *(i == 0 ? &asked->policy.global : &asked->policy.workspace) = (struct bs_policy_text){
            bytes->data != NULL ? bytes->data : "", bytes->len, files[i].format};
    }
    asked->policy.has_workspace = asked->files.workspace != NULL;
    asked->context.policy = &asked->policy;
    return status;
}

static int sandbox(struct asked *asked, char **argv, int argc) {
    struct bs_cli_file files[2] = {{.bytes = BS_BYTES_INIT}, {.bytes = BS_BYTES_INIT}};
    int status = 0;
    if (asked->context.root == NULL || argc == 0)
        return bs_cli_wrong("name a root and a program: boxspec-ref sandbox --root DIR -- PROGRAM");
    if (asked->policy_file == NULL &&
        (asked->policy.profile != NULL || asked->files.workspace != NULL))
        return bs_cli_wrong("--profile and --workspace are about a policy: add --policy FILE");
    asked->root = realpath(asked->context.root, NULL);
    if (asked->root != NULL)
        asked->context.root = asked->root;
    asked->context.egress = asked->egress;
    if (asked->policy_file != NULL)
        status = read_policies(asked, files);
    if (status == 0)
        status = open_and_run(asked, argv, (size_t)argc);
    bs_bytes_clear(&files[0].bytes);
    bs_bytes_clear(&files[1].bytes);
    free(asked->root);
    return status;
}

int bs_cli_sandbox(int argc, char **argv) {
    struct asked asked = {.backend = bs_backend_find("bubblewrap+seccomp"),
                          .context = BS_BACKEND_CONTEXT_INIT};
    int status = 0;
    int option = 0;
    asked.egress = calloc((size_t)argc + 1, sizeof *asked.egress);
    if (asked.egress == NULL)
        return bs_cli_wrong("out of memory");
    opterr = 0;
    optind = 1;
    /* "+": what follows PROGRAM is its own. */
    while (status == 0 && (option = getopt_long(argc, argv, "+:", long_options, NULL)) != -1)
        status = parse_option(&asked, option, argv[optind - 1]);
    if (status == 0)
        status = sandbox(&asked, argv + optind, argc - optind);
    else if (status == 1)
        status = 0;
    free((void *)asked.egress);
    return status;
}
