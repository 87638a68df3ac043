/* The options and the session of a sandbox, for the commands that start programs. A build without
 * backends compiles no_backends.c instead of inside.c. */
#ifndef BS_CLI_INSIDE_H
#define BS_CLI_INSIDE_H

#include <getopt.h>

#include <boxspec/backend.h>

#include "cli/policy.h"

struct bs_cli_inside {
    const struct bs_backend *backend; /* NULL if no sandbox is wanted */
    struct bs_backend_context context;
    struct bs_backend_policy policy;
    struct bs_cli_options files;
    const char *policy_file;
    char *root;
    const char **egress; /* has room for all arguments of the command */
    struct bs_cli_file texts[2];
    enum bs_on_unavailable on_unavailable;
    /* name of the first option about a sandbox that was given, without its dashes */
    const char *first;
    const struct bs_session_log *log; /* may be NULL */
    /* for explain: run no program, and print the report with its claims to stdout */
    bool explains;
    /* NULL before bs_cli_inside_open and after bs_cli_inside_close */
    struct bs_lazy_session *session;
};

enum {
    BS_CLI_BACKEND = 1000,
    BS_CLI_CONFINE,
    BS_CLI_POLICY,
    BS_CLI_PROFILE,
    BS_CLI_WORKSPACE,
    BS_CLI_FORMAT,
    BS_CLI_EGRESS,
    BS_CLI_STRICT,
    BS_CLI_ACCEPT,
    BS_CLI_UNAVAILABLE
};

/* The options of a sandbox, for the table of getopt_long. */
/* clang-format off */
#define BS_CLI_INSIDE_OPTIONS                                                                      \
    {"backend", required_argument, NULL, BS_CLI_BACKEND},                                          \
    {"confine", required_argument, NULL, BS_CLI_CONFINE},                                          \
    {"policy", required_argument, NULL, BS_CLI_POLICY},                                            \
    {"profile", required_argument, NULL, BS_CLI_PROFILE},                                          \
    {"workspace", required_argument, NULL, BS_CLI_WORKSPACE},                                      \
    {"format", required_argument, NULL, BS_CLI_FORMAT},                                            \
    {"egress", required_argument, NULL, BS_CLI_EGRESS},                                            \
    {"strict-metadata", no_argument, NULL, BS_CLI_STRICT},                                         \
    {"accept", required_argument, NULL, BS_CLI_ACCEPT},                                            \
    {"on-unavailable", required_argument, NULL, BS_CLI_UNAVAILABLE}
/* clang-format on */

/* Print a help text: `before`, which ends with the line of --backend, then the other options of the
 * table, then `after`. */
void bs_cli_inside_help(const char *before, const char *after);

/* Initialise for a command of argc words. Returns false after printing a message if memory ran out.
 * Call bs_cli_inside_clear in both cases. */
bool bs_cli_inside_init(struct bs_cli_inside *inside, int argc);
void bs_cli_inside_clear(struct bs_cli_inside *inside);

/* Handle an option with its value. Returns 0; 2 after printing a message; -1 if the option is not
 * in the table. */
int bs_cli_inside_option(struct bs_cli_inside *inside, int option, const char *value);

/* Read the policies and complete the context. Call it after the last option. Returns 0, or an exit
 * status after printing a message. Without --backend, every other option of the table is
 * refused. */
int bs_cli_inside_read(struct bs_cli_inside *inside);

/* Open the session, unless the first request has to open it, and print which parts of the policy
 * are not enforced. Returns 0, or an exit status after printing a message. */
int bs_cli_inside_open(struct bs_cli_inside *inside);

/* Return the sandbox for the programs that the command starts, or NULL without a backend. */
const struct bs_sandbox *bs_cli_inside_sandbox(const struct bs_cli_inside *inside);

/* Return the directory in which programs start; NULL means the working directory of the command. */
const char *bs_cli_inside_cwd(const struct bs_cli_inside *inside);

/* Print changes of paths that a rule denies to modify, and close the session. Call it after the
 * programs have ended. */
void bs_cli_inside_close(struct bs_cli_inside *inside);

/* Print a line: `before`, and then `text` with its control characters escaped. */
void bs_cli_inside_put_line(FILE *to, const char *before, const char *text);

#endif
