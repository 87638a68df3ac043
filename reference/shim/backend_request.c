#include "shim/backend_request.h"

#include <string.h>

#include "shim/policy_request.h"

static const cJSON *member(const cJSON *object, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static void decode_policy(struct bs_decoder *decoder, const cJSON *item, const char *at,
                          struct bs_wanted_sandbox *wanted) {
    static const char *const known[] = {"text",      "text_b64",   "format",
                                        "workspace", "fs_profile", NULL};
    struct bs_texts texts;
    if (!cJSON_IsObject(item)) {
        bs_problem(decoder, at, "must be an object with `text` and `format`");
        return;
    }
    bs_decode_texts(decoder, item, at, known, &texts);
    wanted->policy = (struct bs_backend_policy){
        .global = texts.global,
        .workspace = texts.workspace,
        .has_workspace = texts.has_workspace,
        .profile = bs_decode_text(decoder, item, at, "fs_profile", false)};
    wanted->context.policy = &wanted->policy;
}

static void decode_accept(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                          struct bs_wanted_sandbox *wanted) {
    char at[BS_POINTER_MOST];
    size_t n = 0;
    const char *const *words = bs_decode_strings(decoder, object, pointer, "accept", &n);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(words[i], "late-names") == 0)
            wanted->context.accept_late_names = true;
        else
            bs_problem(decoder, bs_below(at, pointer, "accept"), "`%.100s`: must be late-names",
                       words[i]);
    }
}

void bs_decode_confinement(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                           struct bs_wanted_sandbox *wanted) {
    char at[BS_POINTER_MOST];
    const char *profile = bs_decode_text(decoder, object, pointer, "profile", true);
    if (profile != NULL && !bs_confine_parse(profile, &wanted->context.confine))
        bs_problem(decoder, bs_below(at, pointer, "profile"),
                   "must be read-only, repo-write, no-network, full-dev or ci-only");
    const cJSON *policy = member(object, "policy");
    if (policy != NULL)
        decode_policy(decoder, policy, bs_below(at, pointer, "policy"), wanted);
    wanted->context.egress =
        bs_decode_strings(decoder, object, pointer, "egress", &wanted->context.n_egress);
    wanted->context.strict_metadata = bs_decode_bool(decoder, object, pointer, "strict_metadata");
    decode_accept(decoder, object, pointer, wanted);
}

void bs_decode_context(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                       struct bs_wanted_sandbox *wanted) {
    static const char *const known[] = {"root",    "root_b64", "cwd",    "cwd_b64",
                                        "profile", "policy",   "egress", "strict_metadata",
                                        "accept",  NULL};
    if (!cJSON_IsObject(object)) {
        bs_problem(decoder, pointer, "must be an object with `root` and `profile`");
        return;
    }
    bs_refuse_unknown(decoder, object, pointer, known);
    wanted->context.root = bs_decode_text(decoder, object, pointer, "root", true);
    wanted->context.cwd = bs_decode_text(decoder, object, pointer, "cwd", false);
    bs_decode_confinement(decoder, object, pointer, wanted);
}

void bs_decode_backend_name(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                            const char *name, struct bs_wanted_sandbox *wanted) {
    char at[BS_POINTER_MOST];
    const char *text = bs_decode_text(decoder, object, pointer, name, true);
    wanted->backend = text != NULL ? bs_backend_find(text) : NULL;
    if (text != NULL && wanted->backend == NULL)
        bs_problem(decoder, bs_below(at, pointer, name),
                   "`%.100s`: there is no such backend; `hello` names them", text);
}

void bs_decode_on_unavailable(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                              struct bs_wanted_sandbox *wanted) {
    char at[BS_POINTER_MOST];
    const cJSON *item = member(object, "on_unavailable");
    wanted->on_unavailable = bs_is_word(item, "degrade") ? BS_DEGRADE : BS_REFUSE;
    if (item != NULL && wanted->on_unavailable == BS_REFUSE && !bs_is_word(item, "refuse"))
        bs_problem(decoder, bs_below(at, pointer, "on_unavailable"),
                   "must be \"refuse\" or \"degrade\"");
}

static bool decode_head(struct bs_decoder *decoder, const cJSON *object,
                        struct bs_wanted_sandbox *wanted) {
    static const char *const known[] = {"name", "context", "on_unavailable", NULL};
    *wanted = (struct bs_wanted_sandbox){.context = BS_BACKEND_CONTEXT_INIT};
    if (!cJSON_IsObject(object)) {
        bs_problem(decoder, "/backend", "must be an object with `name` and `context`");
        return false;
    }
    bs_refuse_unknown(decoder, object, "/backend", known);
    bs_decode_backend_name(decoder, object, "/backend", "name", wanted);
    bs_decode_on_unavailable(decoder, object, "/backend", wanted);
    return true;
}

void bs_decode_use(struct bs_decoder *decoder, const cJSON *object,
                   struct bs_wanted_sandbox *wanted) {
    if (!decode_head(decoder, object, wanted))
        return;
    bs_decode_context(decoder, member(object, "context"), "/backend/context", wanted);
    bs_refuse_nul(decoder);
}

void bs_decode_use_without_root(struct bs_decoder *decoder, const cJSON *object,
                                struct bs_wanted_sandbox *wanted) {
    static const char *const known[] = {"profile",         "policy", "egress",
                                        "strict_metadata", "accept", NULL};
    static const char at[] = "/backend/context";
    if (!decode_head(decoder, object, wanted))
        return;
    const cJSON *context = member(object, "context");
    if (!cJSON_IsObject(context)) {
        bs_problem(decoder, at, "must be an object with `profile`");
        return;
    }
    bs_refuse_unknown(decoder, context, at, known);
    bs_decode_confinement(decoder, context, at, wanted);
    bs_refuse_nul(decoder);
}
