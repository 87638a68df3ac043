/* Options and helpers of the commands of `boxspec-ref policy`. */
#ifndef BS_CLI_POLICY_H
#define BS_CLI_POLICY_H

#include <stdbool.h>
#include <stdio.h>

#include <boxspec/profile.h>

enum { BS_CLI_DENIED = 3, BS_CLI_ELSEWHERE = 4 };

struct bs_cli_options {
    const char *workspace; /* NULL: not given */
    const char *profile;
    const char *format; /* of the files; NULL: by their names */
    const char *to;     /* format of the output; NULL: the same */
    const char *root;
    uint64_t most; /* most lines, or names for `links`; 0: the default of the command */
    bool fold;
    bool parent;
    bool audit;
    int argc; /* the other arguments */
    char **argv;
};

/* Each command returns the exit status. */
int bs_cli_policy_check(const struct bs_cli_options *options);
int bs_cli_policy_explain(const struct bs_cli_options *options);
int bs_cli_policy_why_not(const struct bs_cli_options *options);
int bs_cli_policy_lint(const struct bs_cli_options *options);
int bs_cli_policy_merge(const struct bs_cli_options *options);
int bs_cli_policy_migrate(const struct bs_cli_options *options);
int bs_cli_policy_print(const struct bs_cli_options *options);
int bs_cli_policy_links(const struct bs_cli_options *options);

struct bs_cli_file {
    struct bs_bytes bytes;
    enum bs_policy_format format;
    const char *name;
};

/* Reads a regular file, or stdin for `-`. Returns 0, or an exit status with a message. */
int bs_cli_read_policy(const struct bs_cli_options *options, const char *name,
                       struct bs_cli_file *file);

/* Loads one file, or two merged if `workspace` is not NULL. Prints problems to stderr, a line each,
 * and if `warnings` is set, warnings to stdout. Returns 0 or an exit status. */
int bs_cli_load_policy(const struct bs_cli_options *options, const char *global,
                       const char *workspace, bool warnings, struct bs_policy **policy);

/* Prints FILE:LINE:COLUMN: ... for each problem to stderr, up to `most`, and the number of others.
 */
void bs_cli_put_problems(const struct bs_cli_options *options,
                         const struct bs_policy_report *report, const char *global,
                         const char *workspace);

/* The same for warnings, to stdout. */
void bs_cli_put_warnings(const struct bs_cli_options *options,
                         const struct bs_policy_report *report, const char *global,
                         const char *workspace);

int bs_cli_format(const char *word, enum bs_policy_format *format);

/* Print a library error on stderr and return the exit status for it. */
int bs_cli_failed(int code, const struct bs_error *err);

/* Prints text for a terminal: control characters become escapes. */
void bs_cli_put_text(FILE *out, const char *text, size_t len);

#endif
