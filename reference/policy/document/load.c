#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/table.h"
#include "policy/document/merge.h"
#include "policy/document/shape.h"
#include "policy/document/validate.h"
#include "policy/document/warn.h"
#include "policy/file/problems.h"
#include "policy/file/read.h"
#include "policy/model.h"

/* A file that is being loaded. Loading continues after a problem, so that further problems are
 * reported too. `readable` is true if the file could be read into a model. */
struct file {
    const struct bs_policy_text *text;
    enum bs_policy_source source;
    struct bs_policy policy;
    bool readable;
};

/* Estimate of the memory for a policy: a fixed part and a part for each byte of its text. A small
 * policy fits into one block. */
enum { ROOM_A_POLICY = 512, ROOM_A_BYTE = 4 };

static bool has_arena(struct file *file) {
    struct bs_policy *policy = &file->policy;
    if (policy->arena != NULL)
        return true;
    size_t room = ROOM_A_POLICY + file->text->len * ROOM_A_BYTE;
    policy->arena = bs_arena_new(room < BS_ARENA_ROOM ? room : BS_ARENA_ROOM);
    policy->seed = bs_table_seed(policy->arena);
    return policy->arena != NULL;
}

static bool read_model(struct file *file, struct bs_document *document,
                       struct bs_problems *problems) {
    enum bs_policy_format format = file->text->format;
    file->readable = bs_shape_is_policy(document->root, format, problems);
    if (!file->readable)
        return !problems->failed;
    if (!has_arena(file))
        return false;
    bs_duplicates_drop(document->root, problems);
    return bs_shape_read(document->root, format, problems, &file->policy);
}

static bool read_file(struct file *file, struct bs_problems *problems) {
    struct bs_document document = BS_DOCUMENT_INIT;
    problems->source = file->source;
    bool good = bs_policy_read(file->text, &document, problems);
    if (good && document.root != NULL)
        good = read_model(file, &document, problems);
    bs_document_clear(&document);
    return good;
}

/* Check a file that could be read. *denies becomes the denies that apply to this file; the caller
 * clears them. */
static bool validate(const struct file *file, const struct file *above, struct bs_denies *denies,
                     struct bs_problems *problems) {
    if (!file->readable)
        return true;
    /* If the global file is unreadable, its exceptions are unknown, so the exceptions of a
     * workspace cannot be checked against them. The problem of the global file is reported
     * anyway. */
    bool alone = above == NULL || !above->readable;
    const struct bs_policy *over = alone ? NULL : &above->policy;
    bs_denies_clear(denies);
    return bs_denies_fill(denies, &file->policy, over) &&
           bs_validate_profiles(&file->policy, denies, problems) &&
           ((alone && above != NULL) || bs_validate_exceptions(&file->policy, over, problems));
}

static int by_name(const void *a, const void *b) {
    const struct bs_profile_name *x = a;
    const struct bs_profile_name *y = b;
    return strcmp(x->name, y->name);
}

static bool sort_profiles(struct bs_policy *policy) {
    policy->by_name = bs_arena_zeroed(policy->arena, policy->n_profiles, sizeof *policy->by_name);
    if (policy->by_name == NULL)
        return false;
    for (size_t i = 0; i < policy->n_profiles; i++)
        policy->by_name[i] =
            (struct bs_profile_name){policy->profiles[i].name, &policy->profiles[i]};
    qsort(policy->by_name, policy->n_profiles, sizeof *policy->by_name, by_name);
    return true;
}

static bool load_into(struct file *global, struct file *workspace, struct bs_denies *denies,
                      struct bs_problems *problems, struct bs_problems *warnings) {
    if (!read_file(global, problems) || !validate(global, NULL, denies, problems))
        return false;
    if (workspace != NULL) {
        workspace->policy.arena = global->policy.arena;
        workspace->policy.seed = global->policy.seed;
        if (!read_file(workspace, problems) || !validate(workspace, global, denies, problems))
            return false;
    }
    if (problems->n > 0)
        return true;
    if (workspace != NULL && !bs_policy_merge(&global->policy, &workspace->policy))
        return false;
    return sort_profiles(&global->policy) && bs_policy_warn(&global->policy, denies, warnings);
}

static bool load(struct file *global, struct file *workspace, struct bs_problems *problems,
                 struct bs_problems *warnings) {
    struct bs_denies denies = {0};
    bool whole = load_into(global, workspace, &denies, problems, warnings);
    bs_denies_clear(&denies);
    return whole;
}

static int hand_over(const struct bs_policy *loaded, struct bs_policy **policy,
                     struct bs_error *err) {
    struct bs_policy *kept = bs_arena_take(loaded->arena, sizeof *kept);
    if (kept == NULL)
        return bs_fail(err, BS_E_EXECUTION, 0, "out of memory");
    *kept = *loaded;
    *policy = kept;
    return BS_OK;
}

/* Fill the report. There are warnings only if there are no problems, so at most one of the two has
 * an arena. */
static void tell(struct bs_policy_report *report, struct bs_problems *problems,
                 struct bs_problems *warnings) {
    bs_problems_sort(problems);
    bs_problems_sort(warnings);
    report->arena = problems->arena != NULL ? problems->arena : warnings->arena;
    report->problems = problems->items;
    report->n_problems = problems->n;
    report->warnings = warnings->items;
    report->n_warnings = warnings->n;
}

int bs_policy_load(const struct bs_policy_text *global, const struct bs_policy_text *workspace,
                   struct bs_policy **policy, struct bs_policy_report *report,
                   struct bs_error *err) {
    bs_policy_report_clear(report);
    struct file first = {.text = global, .source = BS_FROM_GLOBAL};
    struct file second = {.text = workspace, .source = BS_FROM_WORKSPACE};
    struct bs_problems problems = {0};
    struct bs_problems warnings = {0};
    bool whole = load(&first, workspace != NULL ? &second : NULL, &problems, &warnings);
    tell(report, &problems, &warnings);
    int code = BS_OK;
    if (!whole)
        code = bs_fail(err, BS_E_EXECUTION, 0, "out of memory");
    else if (report->n_problems > 0)
        code = bs_policy_fail_with_first(report, err);
    else
        code = hand_over(&first.policy, policy, err);
    if (code != BS_OK)
        bs_arena_free(first.policy.arena != NULL ? first.policy.arena : second.policy.arena);
    if (code == BS_E_EXECUTION)
        bs_policy_report_clear(report);
    return code;
}

void bs_policy_report_clear(struct bs_policy_report *report) {
    bs_arena_free(report->arena); /* the arena of the report holds the problems and the warnings */
    *report = (struct bs_policy_report)BS_POLICY_REPORT_INIT;
}

void bs_policy_free(struct bs_policy *policy) {
    if (policy != NULL)
        bs_arena_free(policy->arena); /* this frees `policy` too, because it is in its own arena */
}

const char *bs_policy_name(const struct bs_policy *policy) { return policy->name; }

const char *bs_policy_description(const struct bs_policy *policy) { return policy->description; }

static int is_named(const void *name, const void *entry) {
    return strcmp(name, ((const struct bs_profile_name *)entry)->name);
}

const struct bs_profile_rules *bs_policy_profile(const struct bs_policy *policy, const char *name) {
    if (policy->n_profiles == 0)
        return NULL;
    const struct bs_profile_name *found =
        bsearch(name, policy->by_name, policy->n_profiles, sizeof *policy->by_name, is_named);
    return found != NULL ? found->profile : NULL;
}
