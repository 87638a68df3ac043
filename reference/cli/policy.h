/* What the commands of `boxspec-ref policy` share. */
#ifndef BS_CLI_POLICY_H
#define BS_CLI_POLICY_H

#include <stdbool.h>
#include <stdio.h>

#include <boxspec/profile.h>

enum { BS_CLI_DENIED = 3, BS_CLI_ELSEWHERE = 4 };

struct bs_cli_options {
    const char *workspace; /* NULL: none */
    const char *profile;
    const char *format; /* of the files; NULL: by their names */
    const char *to;     /* of what is printed; NULL: as it was */
    const char *root;
    uint64_t most; /* 0: as many as the command thinks fit */
    bool fold;
    bool parent;
    bool audit;
    int argc; /* the words that are left */
    char **argv;
};

/* A command gets its options and words, and returns the exit status. */
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

/* Reads a regular file, `-` for stdin. 0, or an exit status after a line on stderr. */
int bs_cli_read_policy(const struct bs_cli_options *options, const char *name,
                       struct bs_cli_file *file);

/* Loads one file, or two merged when `workspace` is not NULL. What keeps it from loading goes to
 * stderr, a line each; warnings to stdout when they are wanted. 0 or an exit status. */
int bs_cli_load_policy(const struct bs_cli_options *options, const char *global,
                       const char *workspace, bool warnings, struct bs_policy **policy);

/* FILE:LINE:COLUMN: ... for each problem, on stderr, up to `most`, and how many more there are. */
void bs_cli_put_problems(const struct bs_cli_options *options,
                         const struct bs_policy_report *report, const char *global,
                         const char *workspace);

/* The same for warnings, on stdout. */
void bs_cli_put_warnings(const struct bs_cli_options *options,
                         const struct bs_policy_report *report, const char *global,
                         const char *workspace);

int bs_cli_format(const char *word, enum bs_policy_format *format);

/* Exit status for a library error, said on stderr. */
int bs_cli_failed(int code, const struct bs_error *err);

/* Text for a terminal: control characters are written as escapes. */
void bs_cli_put_text(FILE *out, const char *text, size_t len);

#endif
