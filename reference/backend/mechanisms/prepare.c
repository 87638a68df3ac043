/* Landlock and bubblewrap: both are a plan for the launcher. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/internal.h"
#include "backend/mechanisms/seccomp.h"
#include "backend/plan/plan.h"
#include "base/error.h"

struct confined {
    struct bs_hideout place;
    char *launcher;
    char *plan;
    char *scratch;   /* TMPDIR of the programs */
    bool hides_home; /* HOME of the caller is not there inside */
    char *root;      /* for the scan */
    struct bs_profile *profile;
    struct bs_snapshot *snapshot; /* NULL: every rule holds */
};

static int out_of_memory(struct bs_error *err) {
    (void)bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a sandbox");
    return BS_E_EXECUTION;
}

static int add_filter(const struct bs_kind *kind, const struct bs_backend_context *context,
                      const char *place, struct bs_buf *plan, struct bs_error *err) {
    /* Mounts that are read-only hold the metadata outside, and leave those inside alone. */
    bool strict = context->strict_metadata && !kind->namespaces;
    const struct bs_filter_wish wish = {kind->namespaces,
                                        bs_context_network(context) == BS_NET_NONE, strict};
    size_t n_bytes = 0;
    char *path = NULL;
    const struct sock_filter *filter = bs_filter_of(&wish, &n_bytes);
    int code = bs_hideout_add(place, "filter", filter, n_bytes, 0600, err);
    if (code != BS_OK)
        return code;
    if (asprintf(&path, "%s/filter", place) < 0)
        return out_of_memory(err);
    bs_plan_add(plan, BS_PLAN_FILTER, path);
    free(path);
    return BS_OK;
}

/* A filter for this mechanism, the plan, and what both need in their place. */
static int build_plan(const struct bs_kind *kind, const struct bs_backend_context *context,
                      struct confined *state, int cancel, struct bs_backend_report *report,
                      struct bs_error *err) {
    struct bs_buf plan = BS_BUF_INIT;
    int code = kind->namespaces
                   ? bs_bubblewrap_plan(context, state->profile, state->place.path, state->scratch,
                                        cancel, &plan, report, err)
                   : bs_landlock_plan(context, state->profile, state->scratch, &plan, report, err);
    if (code == BS_OK && kind->filtered && kind->namespaces &&
        !bs_pipes_plan(context, state->scratch, &plan))
        code = out_of_memory(err);
    if (code == BS_OK && kind->filtered)
        code = add_filter(kind, context, state->place.path, &plan, err);
    if (code == BS_OK && plan.failed)
        code = out_of_memory(err);
    if (code == BS_OK)
        code = bs_hideout_add(state->place.path, "plan", plan.data, plan.len, 0600, err);
    bs_buf_clear(&plan);
    return code;
}

static bool join(char **out, const char *dir, const char *name) {
    if (asprintf(out, "%s/%s", dir, name) >= 0)
        return true;
    *out = NULL;
    return false;
}

/* One that a program inside could exchange would be started outside for the next. What an earlier
 * session made of it nobody can tell. */
static int move_launcher(const struct bs_backend_context *context, const char *also,
                         struct confined *state, struct bs_backend_report *report,
                         struct bs_error *err) {
    char *copy = NULL;
    if (!bs_is_granted(context, also, state->launcher))
        return BS_OK;
    if (!bs_report_warn(report,
                        "`%s`: programs inside can exchange it for later sessions; install "
                        "it outside of what is granted",
                        state->launcher))
        return out_of_memory(err);
    int code = bs_hideout_copy(state->place.path, "launcher", state->launcher, err);
    if (code == BS_OK && !join(&copy, state->place.path, "launcher"))
        code = out_of_memory(err);
    if (code == BS_OK && access(copy, X_OK) != 0)
        code = bs_fail(err, BS_E_EXECUTION, errno,
                       "the launcher `%.900s` lies in what is granted, and nothing can be executed "
                       "in `%.900s`; install it elsewhere",
                       state->launcher, state->place.path);
    if (code != BS_OK) {
        free(copy);
        return code;
    }
    free(state->launcher);
    state->launcher = copy;
    return BS_OK;
}

static int make_place(const struct bs_kind *kind, const struct bs_backend_context *context,
                      const char *also, struct confined *state, struct bs_backend_report *report,
                      struct bs_error *err) {
    int code = bs_hideout_make(context, also, &state->place, err);
    if (code == BS_OK)
        code = move_launcher(context, also, state, report, err);
    if (code == BS_OK && !join(&state->plan, state->place.path, "plan"))
        code = out_of_memory(err);
    if (code != BS_OK)
        return code;
    if (!kind->namespaces) {
        code = bs_hideout_add_dir(state->place.path, "tmp", 0700, err);
        return code == BS_OK && !join(&state->scratch, state->place.path, "tmp")
                   ? out_of_memory(err)
                   : code;
    }
    state->scratch = bs_bubblewrap_scratch(context->root);
    if (state->scratch == NULL)
        return out_of_memory(err);
    code = bs_hideout_add(state->place.path, "nothing", "", 0, 0, err);
    return code == BS_OK ? bs_hideout_add_dir(state->place.path, "nothing.d", 0, err) : code;
}

/* Whether what HOME names cannot be entered inside. */
static bool hides_home(const struct bs_kind *kind, const struct confined *state, const char *home) {
    if (home == NULL)
        return false;
    char *real = realpath(home, NULL);
    bool hidden =
        real == NULL || access(real, R_OK | X_OK) != 0 ||
        (kind->namespaces && bs_is_below(real, state->scratch) && !bs_is_below(real, state->root));
    free(real);
    return hidden;
}

/* The HOME that the program would have: the request's own, or the caller's. */
static bool needs_home(const struct bs_kind *kind, const struct confined *state,
                       const struct bs_exec_request *request) {
    const char *home = NULL;
    if (request->env_mode == BS_ENV_INHERIT)
        return state->hides_home;
    for (size_t i = 0; i < request->n_env; i++) {
        if (strcmp(request->env[i].name, "HOME") == 0)
            home = request->env[i].value;
    }
    return hides_home(kind, state, home);
}

static void free_state(struct confined *state) {
    bs_snapshot_free(state->snapshot);
    bs_profile_free(state->profile);
    free(state->root);
    free(state->launcher);
    free(state->plan);
    free(state->scratch);
    free(state);
}

static bool claim_lacking(const struct bs_kind *kind, const struct bs_rules_lacking *lacking,
                          struct bs_backend_report *report) {
    bool good = true;
    if (lacking->counted[BS_OP_READ] > 0)
        good = bs_report_reason(
            report, BS_ASPECT_FS_READ, kind->namespaces ? BS_CLAIM_PARTIAL : BS_CLAIM_UNAVAILABLE,
            "%u rules that deny reading are not enforced", lacking->counted[BS_OP_READ]);
    if (good && lacking->counted[BS_OP_MODIFY] > 0)
        good = bs_report_reason(report, BS_ASPECT_FS_WRITE, BS_CLAIM_PARTIAL,
                                "%u rules that deny modifying are not enforced",
                                lacking->counted[BS_OP_MODIFY]);
    return good;
}

/* Names the rules that do not hold, everywhere and in this workspace. If one of them denies
 * modifying, a scan will compare the workspace with its state at the start. */
static int look_at_rules(const struct bs_kind *kind, const struct bs_backend_context *context,
                         struct confined *state, int cancel, struct bs_backend_report *report,
                         struct bs_error *err) {
    struct bs_rules_lacking anywhere = {{0, 0}, {0, 0}};
    struct bs_rules_lacking here = {{0, 0}, {0, 0}};
    bool good = kind->namespaces
                    ? bs_rules_of_mounts(state->profile, context, NULL, report, &anywhere) &&
                          bs_rules_of_mounts(state->profile, context, context->root, report, &here)
                    : bs_rules_of_grants(state->profile, context, report, &anywhere);
    if (!good || !claim_lacking(kind, &here, report))
        return out_of_memory(err);
    if (anywhere.named[BS_OP_MODIFY] + here.named[BS_OP_MODIFY] == 0 &&
        report->aspects[BS_ASPECT_FS_WRITE].claim != BS_CLAIM_PARTIAL)
        return BS_OK;
    bool cut = false;
    int code = bs_snapshot_take(state->profile, context->root, cancel, &cut, &state->snapshot, err);
    if (code == BS_OK && cut &&
        !bs_report_warn(report,
                        "the workspace is too large for a scan: changes of denied paths are "
                        "not looked for"))
        return out_of_memory(err);
    return code;
}

int bs_confined_prepare_beside(const struct bs_kind *kind, const struct bs_backend_context *context,
                               const char *also, int cancel, void **made,
                               struct bs_backend_report *report, struct bs_error *err) {
    struct confined *state = calloc(1, sizeof *state);
    *made = state;
    if (state == NULL)
        return out_of_memory(err);
    state->place = (struct bs_hideout)BS_HIDEOUT_INIT;
    state->root = strdup(context->root);
    if (state->root == NULL)
        return out_of_memory(err);
    state->launcher = bs_launcher_find(context->launcher, err);
    if (state->launcher == NULL)
        return BS_E_EXECUTION;
    int code = bs_policy_of(context, &state->profile, err);
    if (code == BS_OK)
        code = make_place(kind, context, also, state, report, err);
    if (code == BS_OK)
        code = build_plan(kind, context, state, cancel, report, err);
    if (code == BS_OK)
        code = look_at_rules(kind, context, state, cancel, report, err);
    if (code == BS_OK)
        code =
            bs_links_report(context->root, kind->namespaces ? NULL : state->profile, report, err);
    state->hides_home = code == BS_OK && hides_home(kind, state, getenv("HOME"));
    return code;
}

int bs_confined_prepare(void *ctx, const struct bs_backend_context *context, int cancel,
                        void **made, struct bs_backend_report *report, struct bs_error *err) {
    return bs_confined_prepare_beside(ctx, context, NULL, cancel, made, report, err);
}

/* One block: the pairs behind the words. */
int bs_confined_wrap(void *ctx, void *made, const struct bs_exec_request *request, const char *cwd,
                     struct bs_wrapped *out, struct bs_error *err) {
    enum { HEAD = 9, PAIRS = 2 };
    const struct confined *state = made;
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
    *out = (struct bs_wrapped){.argv = argv, .env = pairs, .launches = true};
    pairs[out->n_env++] = (struct bs_env_pair){"TMPDIR", state->scratch};
    if (needs_home(ctx, state, request))
        pairs[out->n_env++] = (struct bs_env_pair){"HOME", state->scratch};
    return BS_OK;
}

void bs_confined_unwrap(void *ctx, void *made, struct bs_wrapped *wrapped) {
    (void)ctx;
    (void)made;
    free((void *)(uintptr_t)wrapped->env);
    *wrapped = (struct bs_wrapped){.argv = NULL};
}

int bs_confined_scan(void *ctx, void *made, struct bs_backend_report *report,
                     struct bs_error *err) {
    const struct confined *state = made;
    (void)ctx;
    if (state->snapshot == NULL)
        return BS_OK;
    return bs_snapshot_compare(state->snapshot, state->profile, state->root, report, err);
}

int bs_confined_shutdown(void *ctx, void *made, struct bs_error *err) {
    struct confined *state = made;
    (void)ctx;
    if (state == NULL)
        return BS_OK;
    int code = bs_hideout_remove(&state->place, err);
    free_state(state);
    return code;
}

/* Rules that hold in no workspace. */
static bool claim_rules(const struct bs_kind *kind, const struct bs_backend_context *context,
                        const struct bs_profile *profile, struct bs_backend_report *report) {
    struct bs_rules_lacking lacking;
    bool good = kind->namespaces ? bs_rules_of_mounts(profile, context, NULL, report, &lacking)
                                 : bs_rules_of_grants(profile, context, report, &lacking);
    if (good && bs_profile_denies(profile, BS_OP_READ))
        good = bs_report_claim(report, BS_ASPECT_FS_READ, BS_CLAIM_FULLY);
    return good && claim_lacking(kind, &lacking, report);
}

static bool claim_nothing(const struct bs_backend_context *context, bool denies_reading,
                          const char *why, struct bs_backend_report *report) {
    bool good = true;
    for (int i = 0; good && i < BS_ASPECTS; i++) {
        if (bs_context_requests(context, (enum bs_aspect)i, denies_reading))
            good = bs_report_reason(report, (enum bs_aspect)i, BS_CLAIM_UNAVAILABLE, "%s", why);
    }
    return good;
}

int bs_confined_probe(void *ctx, const struct bs_backend_context *context, int cancel,
                      struct bs_backend_report *report, struct bs_error *err) {
    const struct bs_kind *kind = ctx;
    struct bs_error control = BS_ERROR_INIT;
    struct bs_profile *profile = NULL;
    int abi = bs_landlock_abi();
    int code = bs_policy_of(context, &profile, err);
    if (code != BS_OK)
        return code;
    bool reads = bs_profile_denies(profile, BS_OP_READ);
    bool good = true;
    if (!kind->namespaces && abi == 0) {
        good = claim_nothing(context, reads, "this kernel has no Landlock, or has it off", report);
    } else if (bs_control(kind, context, cancel, &control) != BS_OK) {
        good = claim_nothing(context, reads, control.message, report);
    } else {
        good = (kind->namespaces ? bs_bubblewrap_claims(context, kind->filtered, report)
                                 : bs_landlock_claims(context, kind->filtered, abi, report)) &&
               claim_rules(kind, context, profile, report);
        if (kind->filtered)
            good = good && bs_report_claim(report, BS_ASPECT_KERNEL, BS_CLAIM_FULLY);
        if (!bs_context_requests(context, BS_ASPECT_NETWORK, reads))
            report->aspects[BS_ASPECT_NETWORK] = (struct bs_aspect_claim){BS_NOT_REQUESTED, 0, 0};
    }
    bs_profile_free(profile);
    bs_report_conclude(report, context, reads);
    return good ? BS_OK : out_of_memory(err);
}
