#define _GNU_SOURCE
#include "cli/inside.h"

#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"

void bs_cli_inside_help(const char *before, const char *after) {
    (void)fputs(before, stdout);
    (void)fputs(
        "  --confine PROFILE      read-only, repo-write (default), no-network, full-dev or "
        "ci-only\n"
        "  --policy FILE          rules about paths of the workspace\n"
        "  --profile NAME         profile of the policy (default: unrestricted)\n"
        "  --workspace FILE       a policy to merge over the policy of --policy\n"
        "  --format json|yaml     format of the files (default: by their names)\n"
        "  --egress HOST:PORT     a permitted destination of connections; may be repeated\n"
        "  --strict-metadata      landlock+seccomp: refuse every change of mode, owner, times\n"
        "                         and attributes\n"
        "  --accept late-names    run even if rules are not enforced for names that are created\n"
        "                         later; the rules are printed before the run, and violations\n"
        "                         after it\n"
        "  --on-unavailable WHAT  refuse (default): run only if all rules are enforced;\n"
        "                         degrade: run anyway, and print the other rules\n",
        stdout);
    (void)fputs(after, stdout);
}

bool bs_cli_inside_init(struct bs_cli_inside *inside, int argc) {
    *inside = (struct bs_cli_inside){.context = BS_BACKEND_CONTEXT_INIT,
                                     .texts = {{.bytes = BS_BYTES_INIT}, {.bytes = BS_BYTES_INIT}},
                                     .on_unavailable = BS_REFUSE};
    inside->egress = calloc((size_t)argc + 1, sizeof *inside->egress);
    if (inside->egress == NULL)
        (void)bs_cli_wrong("out of memory");
    return inside->egress != NULL;
}

void bs_cli_inside_clear(struct bs_cli_inside *inside) {
    for (int i = 0; i < 2; i++)
        bs_bytes_clear(&inside->texts[i].bytes);
    free(inside->root);
    free((void *)inside->egress);
    inside->root = NULL;
    inside->egress = NULL;
}

static int set_option(struct bs_cli_inside *inside, int option, const char *value) {
    switch (option) {
    case BS_CLI_BACKEND:
        inside->backend = bs_backend_find(value);
        return inside->backend != NULL
                   ? 0
                   : bs_cli_wrong("--backend %s: there is no such backend; see --help", value);
    case BS_CLI_CONFINE:
        return bs_confine_parse(value, &inside->context.confine)
                   ? 0
                   : bs_cli_wrong("--confine %s: read-only, repo-write, no-network, full-dev or "
                                  "ci-only",
                                  value);
    case BS_CLI_POLICY:
        inside->policy_file = value;
        return 0;
    case BS_CLI_PROFILE:
        inside->policy.profile = value;
        return 0;
    case BS_CLI_WORKSPACE:
        inside->files.workspace = value;
        return 0;
    case BS_CLI_FORMAT:
        inside->files.format = value;
        return 0;
    case BS_CLI_EGRESS:
        inside->egress[inside->context.n_egress++] = value;
        return 0;
    case BS_CLI_STRICT:
        inside->context.strict_metadata = true;
        return 0;
    case BS_CLI_ACCEPT:
        inside->context.accept_late_names = strcmp(value, "late-names") == 0;
        return inside->context.accept_late_names ? 0
                                                 : bs_cli_wrong("--accept %s: late-names", value);
    case BS_CLI_UNAVAILABLE:
        inside->on_unavailable = strcmp(value, "degrade") == 0 ? BS_DEGRADE : BS_REFUSE;
        return inside->on_unavailable == BS_DEGRADE || strcmp(value, "refuse") == 0
                   ? 0
                   : bs_cli_wrong("--on-unavailable %s: refuse or degrade", value);
    default:
        return -1;
    }
}

int bs_cli_inside_option(struct bs_cli_inside *inside, int option, const char *value) {
    static const struct option options[] = {BS_CLI_INSIDE_OPTIONS, {NULL, 0, NULL, 0}};
    for (const struct option *each = options; each->name != NULL; each++) {
        if (each->val == option && inside->first == NULL)
            inside->first = each->name;
    }
    return set_option(inside, option, value);
}

static int read_policies(struct bs_cli_inside *inside) {
    struct bs_cli_file *texts = inside->texts;
    int status = bs_cli_read_policy(&inside->files, inside->policy_file, &texts[0]);
    if (status == 0 && inside->files.workspace != NULL)
        status = bs_cli_read_policy(&inside->files, inside->files.workspace, &texts[1]);
    for (int i = 0; i < 2; i++) {
        const struct bs_bytes *bytes = &texts[i].bytes;
        *(i == 0 ? &inside->policy.global : &inside->policy.workspace) = (struct bs_policy_text){
            bytes->data != NULL ? bytes->data : "", bytes->len, texts[i].format};
    }
    inside->policy.has_workspace = inside->files.workspace != NULL;
    inside->context.policy = &inside->policy;
    return status;
}

int bs_cli_inside_read(struct bs_cli_inside *inside) {
    if (inside->backend == NULL)
        return inside->first == NULL
                   ? 0
                   : bs_cli_wrong("--%s is about a sandbox: add --backend NAME", inside->first);
    if (inside->policy_file == NULL &&
        (inside->policy.profile != NULL || inside->files.workspace != NULL))
        return bs_cli_wrong("--profile and --workspace are about a policy: add --policy FILE");
    if (inside->context.root != NULL)
        inside->root = realpath(inside->context.root, NULL);
    if (inside->root != NULL)
        inside->context.root = inside->root;
    inside->context.egress = inside->egress;
    return inside->policy_file != NULL ? read_policies(inside) : 0;
}

void bs_cli_inside_put_line(FILE *to, const char *before, const char *text) {
    (void)fputs(before, to);
    bs_cli_put_text(to, text, strlen(text));
    (void)fputc('\n', to);
}

/* Limit the number of lines, because a directory may have many links or changed files. */
enum { MOST_SHOWN = 20 };

static size_t fewer(size_t n) { return n < MOST_SHOWN ? n : MOST_SHOWN; }

static void put_rest(FILE *to, const char *what, size_t n) {
    if (n > MOST_SHOWN)
        (void)fprintf(to, "%zu more %s\n", n - MOST_SHOWN, what);
}

static void put_report(FILE *to, const struct bs_backend_report *report, bool claims) {
    for (int i = 0; claims && i < BS_ASPECTS; i++)
        (void)fprintf(to, "%-12s %s\n", bs_aspect_name((enum bs_aspect)i),
                      bs_claim_name(report->aspects[i].claim));
    for (int i = 0; i < BS_ASPECTS; i++) {
        const struct bs_aspect_claim *claim = &report->aspects[i];
        for (size_t j = 0; claim->claim > BS_CLAIM_FULLY && j < claim->n_reasons; j++) {
            (void)fprintf(to, "not enforced: %s: ", bs_aspect_name((enum bs_aspect)i));
            bs_cli_inside_put_line(to, "", claim->reasons[j]);
        }
    }
    for (size_t i = 0; i < fewer(report->n_unenforced); i++) {
        bs_cli_inside_put_line(to, "rule not enforced: ", report->unenforced[i].rule);
        bs_cli_inside_put_line(to, "    ", report->unenforced[i].why);
    }
    put_rest(to, "rules that are not enforced", report->n_unenforced);
    for (size_t i = 0; i < fewer(report->n_hard_links); i++)
        bs_cli_inside_put_line(to, "has another name: ", report->hard_links[i]);
    put_rest(to, "files with another name", report->n_hard_links);
    for (size_t i = 0; i < fewer(report->n_violations); i++) {
        bs_cli_inside_put_line(to, "changed against a rule: ", report->violations[i].path);
        bs_cli_inside_put_line(to, "    ", report->violations[i].rule);
    }
    put_rest(to, "changes against a rule", report->n_violations);
    /* Print the last warnings: one of them says if programs run without a sandbox, and the earlier
     * ones may be about paths that a program has made. */
    for (size_t i = report->n_warnings - fewer(report->n_warnings); i < report->n_warnings; i++)
        bs_cli_inside_put_line(to, "warning: ", report->warnings[i]);
    put_rest(to, "warnings", report->n_warnings);
}

int bs_cli_inside_open(struct bs_cli_inside *inside) {
    struct bs_error err = BS_ERROR_INIT;
    if (inside->backend == NULL)
        return 0;
    int code = bs_lazy_session_open(inside->backend, &inside->context, inside->on_unavailable,
                                    inside->log, &inside->session, &err);
    put_report(inside->explains ? stdout : stderr, bs_lazy_session_report(inside->session),
               inside->explains);
    if (code == BS_OK)
        return 0;
    int status = bs_cli_failed(code, &err);
    if (code == BS_E_DENIED && bs_lazy_session_report(inside->session)->n_unenforced > 0)
        (void)fputs(
            "    Change the rules above, or run with --accept late-names (accepts rules that "
            "fail only for\n    names created later) or --on-unavailable degrade (accepts "
            "all).\n",
            stderr);
    return code == BS_E_DENIED ? BS_CLI_DENIED : status;
}

const struct bs_sandbox *bs_cli_inside_sandbox(const struct bs_cli_inside *inside) {
    return bs_lazy_session_sandbox(inside->session);
}

const char *bs_cli_inside_cwd(const struct bs_cli_inside *inside) {
    const struct bs_session *session = bs_lazy_session_opened(inside->session);
    return session != NULL ? bs_session_cwd(session) : NULL;
}

/* Print changes of paths that a rule denies to modify. The workspace must still exist. */
static void scan(struct bs_session *session) {
    struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    if (bs_session_scan(session, &report, &err) != BS_OK)
        (void)bs_cli_wrong("the workspace could not be scanned after the run: %s", err.message);
    put_report(stderr, &report, false);
    bs_backend_report_clear(&report);
}

void bs_cli_inside_close(struct bs_cli_inside *inside) {
    struct bs_session *session = bs_lazy_session_opened(inside->session);
    struct bs_error err = BS_ERROR_INIT;
    /* Without a root the first request opens the session, so the report was not printed yet. */
    if (inside->context.root == NULL)
        put_report(stderr, bs_lazy_session_report(inside->session), false);
    else if (session != NULL && !inside->explains)
        scan(session);
    if (bs_lazy_session_close(inside->session, &err) != BS_OK)
        (void)bs_cli_wrong("%s", err.message);
    inside->session = NULL;
}
