/* Options and helpers of the commands `boxspec-ref policy ...`. */
#ifndef BS_CLI_POLICY_H
#define BS_CLI_POLICY_H

#include <stdbool.h>
#include <stdio.h>

#include <boxspec/profile.h>

enum { BS_CLI_DENIED = 3, BS_CLI_ELSEWHERE = 4 };

struct bs_cli_options {
    const char *workspace; /* NULL if it is not given */
    const char *profile;
    const char *format; /* format of the files; NULL: decided by their names */
    const char *to;     /* format of the output; NULL: the format of the input */
    const char *root;
    /* limit for lines, or for names with `links`; 0 means the default of the command */
    uint64_t most;
    bool fold;
    bool parent;
    bool audit;
    int argc; /* the arguments after the options */
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

/* Read a regular file, or stdin for `-`. Returns 0, or an exit status after printing a message. */
int bs_cli_read_policy(const struct bs_cli_options *options, const char *name,
                       struct bs_cli_file *file);

/* Load one file, or two merged files if `workspace` is not NULL. Problems are printed to stderr,
 * one per line. If `warnings` is true, warnings are printed to stdout. Returns 0 or an exit
 * status. */
int bs_cli_load_policy(const struct bs_cli_options *options, const char *global,
                       const char *workspace, bool warnings, struct bs_policy **policy);

/* Print FILE:LINE:COLUMN: ... to stderr for each problem, up to the limit `most`, and then the
 * number of the others. */
void bs_cli_put_problems(const struct bs_cli_options *options,
                         const struct bs_policy_report *report, const char *global,
                         const char *workspace);

/* As bs_cli_put_problems, for warnings, to stdout. */
void bs_cli_put_warnings(const struct bs_cli_options *options,
                         const struct bs_policy_report *report, const char *global,
                         const char *workspace);

int bs_cli_format(const char *word, enum bs_policy_format *format);

/* Print an error of the library to stderr and return the exit status for it. */
int bs_cli_failed(int code, const struct bs_error *err);

/* Flush stdout. Returns `status`, or the exit status for a failure after printing a message. */
int bs_cli_flushed(int status);

/* Print text for a terminal, with control characters escaped. */
void bs_cli_put_text(FILE *out, const char *text, size_t len);

#endif
