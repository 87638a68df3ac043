#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "cli/policy.h"

void bs_cli_put_text(FILE *out, const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        /* U+0080 to U+009F are control characters of terminals too. */
        bool c1 = c == 0xC2 && i + 1 < len && (unsigned char)text[i + 1] < 0xA0;
        if (c >= 0x20 && c != 0x7F && !c1)
            (void)fputc(c, out);
        else
            (void)fprintf(out, "\\x%02x", c);
        if (c1)
            (void)fprintf(out, "\\x%02x", (unsigned char)text[++i]);
    }
}

struct names {
    const char *global;
    const char *workspace; /* NULL if it is not given */
};

static void put_problem(FILE *out, const struct bs_policy_problem *problem,
                        const struct names *names) {
    bool is_workspaces = problem->source == BS_FROM_WORKSPACE && names->workspace != NULL;
    (void)fprintf(out, "%s:%u:%u: ", is_workspaces ? names->workspace : names->global,
                  problem->line, problem->column);
    if (problem->code != NULL)
        (void)fprintf(out, "warning %s: ", problem->code);
    if (problem->pointer[0] != '\0') {
        bs_cli_put_text(out, problem->pointer, strlen(problem->pointer));
        (void)fputs(": ", out);
    }
    bs_cli_put_text(out, problem->message, strlen(problem->message));
    (void)fputc('\n', out);
}

/* Build all lines first and write them with one call. stderr is unbuffered, so each piece would be
 * a separate system call. */
static void put_all(FILE *out, const struct bs_policy_problem *problems, size_t n, uint64_t most,
                    const char *what, const struct names *names) {
    char *text = NULL;
    size_t len = 0;
    FILE *lines = open_memstream(&text, &len);
    FILE *into = lines != NULL ? lines : out;
    for (size_t i = 0; i < n && i < most; i++)
        put_problem(into, &problems[i], names);
    if (n > most)
        (void)fprintf(into, "%s: %s that are not shown: %zu\n", names->global, what,
                      n - (size_t)most);
    if (lines != NULL && fclose(lines) == 0)
        (void)fwrite(text, 1, len, out);
    free(text);
}

static uint64_t most_of(const struct bs_cli_options *options) {
    enum { BY_DEFAULT = 100 };
    return options->most > 0 ? options->most : BY_DEFAULT;
}

void bs_cli_put_problems(const struct bs_cli_options *options,
                         const struct bs_policy_report *report, const char *global,
                         const char *workspace) {
    const struct names names = {global, workspace};
    put_all(stderr, report->problems, report->n_problems, most_of(options), "problems", &names);
}

void bs_cli_put_warnings(const struct bs_cli_options *options,
                         const struct bs_policy_report *report, const char *global,
                         const char *workspace) {
    const struct names names = {global, workspace};
    put_all(stdout, report->warnings, report->n_warnings, most_of(options), "warnings", &names);
}
