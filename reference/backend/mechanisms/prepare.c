/* Prepares a session: makes its private directory and writes the plan for the launcher to it. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/mechanisms/bubblewrap.h"
#include "backend/mechanisms/find_launcher.h"
#include "backend/mechanisms/landlock.h"
#include "backend/mechanisms/mechanism.h"
#include "backend/mechanisms/pipes.h"
#include "backend/mechanisms/seccomp.h"
#include "backend/plan/entries.h"
#include "backend/plan/hard_links.h"
#include "backend/plan/plan.h"
#include "backend/plan/profile.h"
#include "backend/plan/rules.h"
#include "backend/plan/scan.h"
#include "backend/session/context.h"
#include "backend/session/private_dir.h"
#include "backend/session/report.h"
#include "base/error.h"
#include "base/sys.h"

/* Time limit for all work that depends on the content of the workspace. The session cannot be
 * sandboxed if prepare takes longer than BS_BACKEND_OPEN_MS, and a program may have filled the
 * workspace for this purpose. bs_mounts_add takes at most 5 s of this time. */
enum { WORKSPACE_MS = 6000 };

/* The state that prepare makes for a session, and that shutdown frees. */
struct prepared {
    struct bs_private_dir dir;
    char *launcher;
    char *plan;
    char *scratch;   /* TMPDIR of the programs */
    bool hides_home; /* programs in the sandbox cannot enter the caller's HOME */
    /* belongs to the session, which outlives this struct */
    const struct bs_backend_context *context;
    struct bs_snapshot *snapshot; /* for a later scan; NULL if no scan is needed */
};

static int out_of_memory(struct bs_error *err) {
    (void)bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a sandbox");
    return BS_E_EXECUTION;
}

static bool join(char **out, const char *dir, const char *name) {
    if (asprintf(out, "%s/%s", dir, name) >= 0)
        return true;
    *out = NULL;
    return false;
}

static int add_filter(const struct bs_mechanism *mechanism,
                      const struct bs_backend_context *context, const char *dir,
                      struct bs_buf *plan, struct bs_error *err) {
    /* Only Landlock needs the strict filter. With namespaces, read-only mounts protect the metadata
     * of files outside, and the filter would also refuse changes in the workspace. */
    bool strict = context->strict_metadata && !mechanism->namespaces;
    const struct bs_seccomp_variant variant = {mechanism->namespaces,
                                               bs_context_network(context) == BS_NET_NONE, strict};
    size_t n_bytes = 0;
    char *path = NULL;
    const struct sock_filter *filter = bs_seccomp_program(&variant, &n_bytes);
    int code = bs_private_dir_add_file(dir, "filter", filter, n_bytes, 0600, err);
    if (code != BS_OK)
        return code;
    if (!join(&path, dir, "filter"))
        return out_of_memory(err);
    bs_plan_add(plan, BS_PLAN_FILTER, path);
    free(path);
    return BS_OK;
}

/* Write the plan and the filter to the private directory. */
static int build_plan(const struct bs_mechanism *mechanism,
                      const struct bs_backend_context *context, struct prepared *state, int cancel,
                      struct bs_buf *plan, struct bs_backend_report *report, struct bs_error *err) {
    int code = mechanism->namespaces ? bs_bubblewrap_plan(context, state->dir.path, state->scratch,
                                                          cancel, plan, report, err)
                                     : bs_landlock_plan(context, state->scratch, plan, report, err);
    if (code == BS_OK && mechanism->filtered && mechanism->namespaces &&
        !bs_pipes_plan(context, state->scratch, plan))
        code = out_of_memory(err);
    if (code == BS_OK && mechanism->filtered)
        code = add_filter(mechanism, context, state->dir.path, plan, err);
    if (code == BS_OK && plan->failed)
        code = out_of_memory(err);
    return code == BS_OK
               ? bs_private_dir_add_file(state->dir.path, "plan", plan->data, plan->len, 0600, err)
               : code;
}

/* Make a copy of the launcher if programs in the sandbox can write to it. Otherwise one of them
 * could replace it, and the next run would start the replacement without a sandbox. If the program
 * of an earlier session has replaced it already, this cannot be detected. */
static int copy_launcher(const struct bs_backend_context *context, const char *also_writable,
                         struct prepared *state, struct bs_backend_report *report,
                         struct bs_error *err) {
    char *copy = NULL;
    if (!bs_is_granted(context, also_writable, state->launcher))
        return BS_OK;
    if (!bs_report_warn(report,
                        "`%s`: programs inside can replace it for later sessions; install "
                        "it outside of the writable directories",
                        state->launcher))
        return out_of_memory(err);
    int code = bs_private_dir_copy_file(state->dir.path, "launcher", state->launcher, err);
    if (code == BS_OK && !join(&copy, state->dir.path, "launcher"))
        code = out_of_memory(err);
    if (code == BS_OK && access(copy, X_OK) != 0)
        code = bs_fail(
            err, BS_E_EXECUTION, errno,
            "the launcher `%.900s` lies in a writable directory, and no file can be executed "
            "in `%.900s`; install it elsewhere",
            state->launcher, state->dir.path);
    if (code != BS_OK) {
        free(copy);
        return code;
    }
    free(state->launcher);
    state->launcher = copy;
    return BS_OK;
}

static int make_dir(const struct bs_mechanism *mechanism, const struct bs_backend_context *context,
                    const char *also_writable, struct prepared *state,
                    struct bs_backend_report *report, struct bs_error *err) {
    int code = bs_private_dir_make(context, also_writable, &state->dir, err);
    if (code == BS_OK)
        code = copy_launcher(context, also_writable, state, report, err);
    if (code == BS_OK && !join(&state->plan, state->dir.path, "plan"))
        code = out_of_memory(err);
    if (code != BS_OK)
        return code;
    if (!mechanism->namespaces) {
        code = bs_private_dir_add_dir(state->dir.path, "tmp", 0700, err);
        return code == BS_OK && !join(&state->scratch, state->dir.path, "tmp") ? out_of_memory(err)
                                                                               : code;
    }
    state->scratch = bs_bubblewrap_scratch(context);
    if (state->scratch == NULL)
        return out_of_memory(err);
    code = bs_private_dir_add_file(state->dir.path, "nothing", "", 0, 0, err);
    return code == BS_OK ? bs_private_dir_add_dir(state->dir.path, "nothing.d", 0, err) : code;
}

/* True if programs in the sandbox cannot enter the directory that HOME names. */
static bool hides_home(const struct bs_mechanism *mechanism, const struct prepared *state,
                       const char *home) {
    if (home == NULL)
        return false;
    char *real = realpath(home, NULL);
    bool hidden = real == NULL || access(real, R_OK | X_OK) != 0 ||
                  (mechanism->namespaces && bs_is_below(real, state->scratch) &&
                   !bs_is_below(real, state->context->root));
    free(real);
    return hidden;
}

/* True if the program's HOME, which comes from the request or the caller, cannot be entered in the
 * sandbox. */
static bool needs_home(const struct bs_mechanism *mechanism, const struct prepared *state,
                       const struct bs_exec_request *request) {
    const char *home = NULL;
    if (request->env_mode == BS_ENV_INHERIT)
        return state->hides_home;
    for (size_t i = 0; i < request->n_env; i++) {
        if (strcmp(request->env[i].name, "HOME") == 0)
            home = request->env[i].value;
    }
    return hides_home(mechanism, state, home);
}

static void free_state(struct prepared *state) {
    bs_snapshot_free(state->snapshot);
    free(state->launcher);
    free(state->plan);
    free(state->scratch);
    free(state);
}

int bs_mechanism_check_profile(const struct bs_backend_context *context, struct bs_error *err) {
    return context->policy == NULL || context->profile != NULL
               ? BS_OK
               : bs_fail(err, BS_E_INVALID, 0,
                         "the policy of the context is not compiled; open a session with it");
}

bool bs_mechanism_claim_unenforced(const struct bs_mechanism *mechanism,
                                   const struct bs_unenforced_rules *unenforced,
                                   struct bs_backend_report *report) {
    bool good = true;
    if (unenforced->partial[BS_OP_READ] > 0)
        good = bs_report_reason(report, BS_ASPECT_FS_READ,
                                mechanism->namespaces ? BS_CLAIM_PARTIAL : BS_CLAIM_UNAVAILABLE,
                                "rules that deny reading and are not enforced: %u",
                                unenforced->partial[BS_OP_READ]);
    if (good && unenforced->partial[BS_OP_MODIFY] > 0)
        good = bs_report_reason(report, BS_ASPECT_FS_WRITE, BS_CLAIM_PARTIAL,
                                "rules that deny modifying and are not enforced: %u",
                                unenforced->partial[BS_OP_MODIFY]);
    return good;
}

/* Count and report the rules that the plan does not enforce in this workspace. */
static bool check_plan(const struct bs_backend_context *context, const struct prepared *state,
                       const struct bs_buf *plan, struct bs_backend_report *report,
                       struct bs_unenforced_rules *here) {
    struct bs_planned planned = {NULL, 0, 0};
    bool good = bs_planned_read(plan, state->dir.path, &planned) &&
                bs_rules_of_mounts(context->profile, context, &planned, report, here);
    bs_planned_clear(&planned);
    return good;
}

/* Report the rules that are not enforced, in general and in this workspace. If one of them denies
 * to modify a path, take a snapshot of the workspace for later scans. */
static int check_rules(const struct bs_mechanism *mechanism,
                       const struct bs_backend_context *context, struct prepared *state,
                       const struct bs_buf *plan, int cancel, uint64_t until,
                       struct bs_backend_report *report, struct bs_error *err) {
    struct bs_unenforced_rules anywhere = {{0, 0}, {0, 0}};
    struct bs_unenforced_rules here = {{0, 0}, {0, 0}};
    bool good = mechanism->namespaces
                    ? bs_rules_of_mounts(context->profile, context, NULL, report, &anywhere) &&
                          check_plan(context, state, plan, report, &here)
                    : bs_rules_of_grants(context->profile, context, report, &anywhere);
    if (!good || !bs_mechanism_claim_unenforced(mechanism, &here, report))
        return out_of_memory(err);
    if (anywhere.reported[BS_OP_MODIFY] + here.reported[BS_OP_MODIFY] == 0 &&
        report->aspects[BS_ASPECT_FS_WRITE].claim != BS_CLAIM_PARTIAL)
        return BS_OK;
    int code =
        bs_snapshot_take(context->profile, context->root, cancel, until, &state->snapshot, err);
    if (code == BS_OK && state->snapshot == NULL &&
        !bs_report_warn(report,
                        "the workspace is too large for a scan: changes of denied paths are "
                        "not detected"))
        return out_of_memory(err);
    return code;
}

int bs_mechanism_prepare_with(const struct bs_mechanism *mechanism,
                              const struct bs_backend_context *context, const char *also_writable,
                              int cancel, void **made, struct bs_backend_report *report,
                              struct bs_error *err) {
    uint64_t until = bs_after_ms(bs_now_ns(), WORKSPACE_MS);
    struct bs_buf plan = BS_BUF_INIT;
    struct prepared *state = calloc(1, sizeof *state);
    *made = state;
    if (state == NULL)
        return out_of_memory(err);
    state->dir = (struct bs_private_dir)BS_PRIVATE_DIR_INIT;
    state->context = context;
    state->launcher = bs_launcher_find(context->launcher, err);
    if (state->launcher == NULL)
        return BS_E_EXECUTION;
    int code = bs_mechanism_check_profile(context, err);
    if (code == BS_OK)
        code = make_dir(mechanism, context, also_writable, state, report, err);
    if (code == BS_OK)
        code = build_plan(mechanism, context, state, cancel, &plan, report, err);
    if (code == BS_OK)
        code = check_rules(mechanism, context, state, &plan, cancel, until, report, err);
    bs_buf_clear(&plan);
    if (code == BS_OK)
        code = bs_hard_links_report(context->root, mechanism->namespaces ? NULL : context->profile,
                                    cancel, until, report, err);
    state->hides_home = code == BS_OK && hides_home(mechanism, state, getenv("HOME"));
    return code;
}

int bs_mechanism_prepare(void *ctx, const struct bs_backend_context *context, int cancel,
                         void **made, struct bs_backend_report *report, struct bs_error *err) {
    return bs_mechanism_prepare_with(ctx, context, NULL, cancel, made, report, err);
}

/* Makes one allocation: the environment, followed by the words of the command. */
int bs_mechanism_wrap(void *ctx, void *made, const struct bs_exec_request *request, const char *cwd,
                      struct bs_wrapped *out, struct bs_error *err) {
    enum { HEAD = 9, PAIRS = 2 };
    const struct prepared *state = made;
    size_t n_words = HEAD + request->n_args + 1;
    struct bs_env_pair *pairs = calloc(1, PAIRS * sizeof *pairs + n_words * sizeof(const char *));
    if (pairs == NULL)
        return out_of_memory(err);
    const char **argv = (const char **)(pairs + PAIRS);
    size_t n = 0;
    argv[n++] = state->launcher;
    argv[n++] = BS_LAUNCH_PLAN;
    argv[n++] = state->plan;
    argv[n++] = BS_LAUNCH_CHDIR;
    argv[n++] = cwd;
    argv[n++] = BS_LAUNCH_REPORT;
    if (request->stdin_mode != BS_STDIN_INHERIT)
        argv[n++] = BS_LAUNCH_OWN_STDIN;
    argv[n++] = "--";
    argv[n++] = request->program;
    if (request->n_args > 0)
        memcpy(argv + n, request->args, request->n_args * sizeof *argv);
    *out = (struct bs_wrapped){.argv = argv, .env = pairs, .is_launcher = true};
    pairs[out->n_env++] = (struct bs_env_pair){"TMPDIR", state->scratch};
    if (needs_home(ctx, state, request))
        pairs[out->n_env++] = (struct bs_env_pair){"HOME", state->scratch};
    return BS_OK;
}

void bs_mechanism_unwrap(void *ctx, void *made, struct bs_wrapped *wrapped) {
    (void)ctx;
    (void)made;
    free((void *)(uintptr_t)wrapped->env);
    *wrapped = (struct bs_wrapped){.argv = NULL};
}

int bs_mechanism_scan(void *ctx, void *made, struct bs_backend_report *report,
                      struct bs_error *err) {
    const struct prepared *state = made;
    (void)ctx;
    if (state->snapshot == NULL)
        return BS_OK;
    return bs_snapshot_compare(state->snapshot, state->context->root, report, err);
}

int bs_mechanism_shutdown(void *ctx, void *made, struct bs_error *err) {
    struct prepared *state = made;
    (void)ctx;
    if (state == NULL)
        return BS_OK;
    int code = bs_private_dir_remove(&state->dir, err);
    free_state(state);
    return code;
}
