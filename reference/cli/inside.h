/* Options and session of a sandbox, for the commands that start programs. In a build without
 * backends no_backends.c replaces inside.c. */
#ifndef BS_CLI_INSIDE_H
#define BS_CLI_INSIDE_H

#include <getopt.h>

#include <boxspec/backend.h>

#include "cli/policy.h"

struct bs_cli_inside {
    const struct bs_backend *backend; /* NULL: no sandbox */
    struct bs_backend_context context;
    struct bs_backend_policy policy;
    struct bs_cli_options files;
    const char *policy_file;
    char *root;
    const char **egress; /* room for all arguments of the command */
    struct bs_cli_file texts[2];
    enum bs_on_unavailable on_unavailable;
    const char *first; /* the first option that is about a sandbox, without its dashes */
    const struct bs_session_log *log; /* may be NULL */
    bool explains; /* no program runs; the report goes to stdout, with its claims */
    struct bs_lazy_session *session; /* from open to close */
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

/* For the table of getopt_long. */
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

/* Prints a help text: the part that ends with --backend, the other options of the table, and the
 * rest. */
void bs_cli_inside_help(const char *before, const char *after);

/* For a command of argc words. False without memory, with a message. To be cleared in any case. */
bool bs_cli_inside_init(struct bs_cli_inside *inside, int argc);
void bs_cli_inside_clear(struct bs_cli_inside *inside);

/* Handles an option with its value: 0; 2 with a message; -1 if the table does not have it. */
int bs_cli_inside_option(struct bs_cli_inside *inside, int option, const char *value);

/* Call after the last option: reads the policies and completes the context. 0, or an exit status
 * with a message. Without --backend no other option of the table is allowed. */
int bs_cli_inside_read(struct bs_cli_inside *inside);

/* Opens the session, unless its first request does, and prints the report: what is not enforced. 0,
 * or an exit status with a message. */
int bs_cli_inside_open(struct bs_cli_inside *inside);

/* For the programs that are started; NULL without a backend. */
const struct bs_sandbox *bs_cli_inside_sandbox(const struct bs_cli_inside *inside);

/* The directory in which programs start; NULL: the working directory of the command. */
const char *bs_cli_inside_cwd(const struct bs_cli_inside *inside);

/* Call when the programs have ended: reports changes that a rule denies. */
void bs_cli_inside_close(struct bs_cli_inside *inside);

/* Prints a line: BEFORE, then TEXT with its control characters escaped. */
void bs_cli_inside_put_line(FILE *to, const char *before, const char *text);

#endif
