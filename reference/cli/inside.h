/* What the commands that start programs are told about a sandbox around them. */
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
    const char **egress; /* room for all words of the command */
    struct bs_cli_file texts[2];
    enum bs_on_unavailable on_unavailable;
    const char *first;          /* the first option that is about a sandbox, without its dashes */
    struct bs_session *session; /* from open to close, or: */
    struct bs_late_session *late;
    struct bs_sandbox sandbox;
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

/* Prints a help: what stands before the line of --backend and with it, the options of the table
 * behind that one, and the rest. */
void bs_cli_inside_help(const char *before, const char *behind);

/* For a command of argc words. False without memory, said on stderr. To be cleared in any case. */
bool bs_cli_inside_init(struct bs_cli_inside *inside, int argc);
void bs_cli_inside_clear(struct bs_cli_inside *inside);

/* An option with its value: 0, 2 after a line on stderr, -1 where it is none of these. */
int bs_cli_inside_option(struct bs_cli_inside *inside, int option, const char *value);

/* When all options are there: reads the policies and makes the context whole. 0 or an exit status,
 * said on stderr; without a backend there is nothing to do, and no other option may be there. */
int bs_cli_inside_read(struct bs_cli_inside *inside);

/* The sandbox for what is started; NULL without a backend. What is not enforced goes to stderr.
 * `own_root`: the workspace is the directory of the request, and all is known behind it. 0 or an
 * exit status, said on stderr. */
int bs_cli_inside_open(struct bs_cli_inside *inside, bool own_root,
                       const struct bs_sandbox **sandbox);

/* Where programs start inside; NULL: wherever the command is. */
const char *bs_cli_inside_cwd(const struct bs_cli_inside *inside);

/* When it has ended: says what happened against a rule. */
void bs_cli_inside_close(struct bs_cli_inside *inside);

/* What is not enforced, and what happened against a rule; `claims`: what is enforced, too. */
void bs_cli_inside_put(FILE *to, const struct bs_backend_report *report, bool claims);

/* Exit status for an error of a session, said on stderr. */
int bs_cli_inside_failed(int code, const struct bs_error *err);

/* BEFORE, TEXT for a terminal, a newline. */
void bs_cli_inside_put_line(FILE *to, const char *before, const char *text);

#endif
