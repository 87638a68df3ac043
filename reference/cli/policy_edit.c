#define _GNU_SOURCE
#include <string.h>

#include "cli/commands.h"
#include "cli/policy.h"

int bs_cli_policy_lint(const struct bs_cli_options *options) {
    if (options->argc < 1)
        return bs_cli_wrong("name a policy: boxspec-ref policy lint POLICY...");
    int status = 0;
    for (int i = 0; i < options->argc; i++) {
        struct bs_policy *policy = NULL;
        int one = bs_cli_load_policy(options, options->argv[i], options->workspace, true, &policy);
        if (one == 0)
            (void)printf("%s: policy %s loads\n", options->argv[i], bs_policy_name(policy));
        bs_policy_free(policy);
        status = one > status ? one : status;
    }
    return status;
}

static int print(const struct bs_cli_options *options, const char *global, const char *workspace) {
    struct bs_policy *policy = NULL;
    struct bs_bytes text = BS_BYTES_INIT;
    struct bs_error err = BS_ERROR_INIT;
    enum bs_policy_format format = BS_POLICY_YAML;
    size_t len = strlen(global);
    int status = 0;
    if (options->to != NULL)
        status = bs_cli_format(options->to, &format);
    else if (len > 5 && strcmp(global + len - 5, ".json") == 0)
        format = BS_POLICY_JSON;
    if (status == 0)
        status = bs_cli_load_policy(options, global, workspace, false, &policy);
    if (status != 0)
        return status;
    int code = bs_policy_print(policy, format, &text, &err);
    if (code != BS_OK)
        status = bs_cli_failed(code, &err);
    else
        (void)fwrite(text.data, 1, text.len, stdout);
    bs_bytes_clear(&text);
    bs_policy_free(policy);
    return status;
}

int bs_cli_policy_merge(const struct bs_cli_options *options) {
    if (options->argc != 2)
        return bs_cli_wrong("name two files: boxspec-ref policy merge GLOBAL WORKSPACE");
    return print(options, options->argv[0], options->argv[1]);
}

int bs_cli_policy_print(const struct bs_cli_options *options) {
    if (options->argc != 1)
        return bs_cli_wrong("name one file: boxspec-ref policy print POLICY");
    return print(options, options->argv[0], options->workspace);
}

int bs_cli_policy_migrate(const struct bs_cli_options *options) {
    struct bs_cli_file file;
    struct bs_bytes draft = BS_BYTES_INIT;
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    if (options->argc != 1)
        return bs_cli_wrong("name one file of version 1: boxspec-ref policy migrate FILE");
    int status = bs_cli_read_policy(options, options->argv[0], &file);
    if (status != 0)
        return status;
    struct bs_policy_text text = {file.bytes.len > 0 ? file.bytes.data : "", file.bytes.len,
                                  file.format};
    int code = bs_policy_migrate(&text, &draft, &report, &err);
    bs_cli_put_problems(options, &report, file.name, NULL);
    if (code != BS_OK)
        status = report.n_problems > 0 ? 2 : bs_cli_failed(code, &err);
    else
        (void)fwrite(draft.data, 1, draft.len, stdout);
    bs_policy_report_clear(&report);
    bs_bytes_clear(&draft);
    bs_bytes_clear(&file.bytes);
    return status;
}

static bool put_link(void *ctx, const struct bs_link *link) {
    (void)ctx;
    (void)printf("%llu names, inode %llu: ", (unsigned long long)link->names,
                 (unsigned long long)link->inode);
    bs_cli_put_text(stdout, link->path, strlen(link->path));
    (void)fputc('\n', stdout);
    return true;
}

int bs_cli_policy_links(const struct bs_cli_options *options) {
    struct bs_links_report report;
    struct bs_error err = BS_ERROR_INIT;
    if (options->argc != 1)
        return bs_cli_wrong("name one folder: boxspec-ref policy links ROOT");
    uint64_t most = options->most > 0 ? options->most : 1000000;
    int code = bs_policy_links(options->argv[0], most, put_link, NULL, &report, &err);
    if (code != BS_OK)
        return bs_cli_failed(code, &err);
    if (report.unreadable > 0)
        (void)fprintf(stderr, "boxspec-ref: %llu folders could not be read\n",
                      (unsigned long long)report.unreadable);
    if (report.stopped)
        (void)fprintf(stderr, "boxspec-ref: stopped after %llu names; --most N examines more\n",
                      (unsigned long long)report.looked_at);
    return report.unreadable > 0 || report.stopped ? BS_CLI_ELSEWHERE : 0;
}
