#define _GNU_SOURCE
#include "shim/backend_script.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sys.h"

static bool is(const char *word, const char *other) { return strcmp(word, other) == 0; }

static int hang(int cancel, const char *call, struct bs_error *err) {
    struct pollfd entry = {.fd = cancel, .events = POLLIN};
    while (BS_RETRY(poll(&entry, 1, -1)) != 1) {
    }
    return bs_fail(err, BS_E_EXECUTION, ECANCELED, "%s was cancelled", call);
}

static int probe(void *ctx, const struct bs_backend_context *context, int cancel,
                 struct bs_backend_report *report, struct bs_error *err) {
    const struct bs_scripted_backend *script = ctx;
    bool good = true;
    if (is(script->probe, "hang"))
        return hang(cancel, "probe", err);
    if (is(script->probe, "error"))
        return bs_fail(err, BS_E_EXECUTION, 0, "the script says that probe fails");
    for (int i = 0; good && i < BS_ASPECTS; i++) {
        enum bs_aspect aspect = (enum bs_aspect)i;
        if (!bs_context_requests(context, aspect, false))
            continue;
        if (is(script->probe, "unavailable"))
            good = bs_report_reason(report, aspect, BS_CLAIM_UNAVAILABLE, "the script says so");
        else if (is(script->probe, "partial") && aspect == BS_ASPECT_FS_WRITE)
            good = bs_report_reason(report, aspect, BS_CLAIM_PARTIAL, "the script says so");
        else
            good = bs_report_claim(report, aspect, BS_CLAIM_FULLY);
    }
    bs_report_conclude(report, context, false);
    return good ? BS_OK : bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a report");
}

static int prepare(void *ctx, const struct bs_backend_context *context, int cancel, void **state,
                   struct bs_backend_report *report, struct bs_error *err) {
    struct bs_scripted_backend *script = ctx;
    char buf[128];
    (void)context;
    (void)report;
    if (is(script->prepare, "hang"))
        return hang(cancel, "prepare", err);
    if (script->place != NULL && mkdir(script->place, 0700) != 0)
        return bs_fail(err, BS_E_IO, errno, "`%.900s`: %s", script->place,
                       bs_os_message(errno, buf, sizeof buf));
    *state = script->place != NULL ? script : NULL;
    if (is(script->prepare, "error"))
        return bs_fail(err, BS_E_EXECUTION, 0, "the script says that prepare fails");
    return BS_OK;
}

static int wrap(void *ctx, void *state, const struct bs_exec_request *request, const char *cwd,
                struct bs_wrapped *out, struct bs_error *err) {
    const struct bs_scripted_backend *script = ctx;
    (void)state;
    (void)cwd;
    if (is(script->wrap, "error"))
        return bs_fail(err, BS_E_EXECUTION, 0, "the script says that wrap fails");
    const char **argv = calloc(script->n_prefix + request->n_args + 2, sizeof *argv);
    if (argv == NULL)
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a command");
    size_t n = 0;
    if (!is(script->wrap, "empty")) {
        for (size_t i = 0; i < script->n_prefix; i++)
            argv[n++] = script->prefix[i];
        argv[n++] = request->program;
        for (size_t i = 0; i < request->n_args; i++)
            argv[n++] = request->args[i];
    }
    *out = (struct bs_wrapped){.argv = argv, .env = script->env, .n_env = script->n_env};
    return BS_OK;
}

static void unwrap(void *ctx, void *state, struct bs_wrapped *wrapped) {
    (void)ctx;
    (void)state;
    free((void *)(uintptr_t)wrapped->argv);
}

static int shut_down(void *ctx, void *state, struct bs_error *err) {
    const struct bs_scripted_backend *script = ctx;
    if (state != NULL)
        (void)rmdir(script->place);
    if (is(script->shutdown, "error"))
        return bs_fail(err, BS_E_EXECUTION, 0, "the script says that shutdown fails");
    return BS_OK;
}

/* Return the word of a member. If the member is absent, return the first word of the list. */
static const char *decode_word(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                               const char *name, const char *const *words) {
    char at[BS_POINTER_MOST];
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    for (const char *const *word = words; item != NULL && *word != NULL; word++) {
        if (bs_is_word(item, *word))
            return *word;
    }
    if (item != NULL)
        bs_problem(decoder, bs_below(at, pointer, name),
                   "is not a value that a script can have here");
    return words[0];
}

static void decode_env(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                       struct bs_scripted_backend *script) {
    char at[BS_POINTER_MOST];
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, "env");
    (void)bs_below(at, pointer, "env");
    if (list == NULL)
        return;
    if (!cJSON_IsArray(list)) {
        bs_problem(decoder, at, "must be an array of [name, value] pairs");
        return;
    }
    struct bs_env_pair *pairs =
        bs_decoder_keep(decoder, calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *pairs));
    const cJSON *pair = NULL;
    cJSON_ArrayForEach(pair, list) {
        char pair_at[BS_POINTER_MOST];
        (void)bs_below_index(pair_at, at, script->n_env);
        if (pairs == NULL || !cJSON_IsArray(pair) || cJSON_GetArraySize(pair) != 2) {
            bs_problem(decoder, pair_at, "must be a pair: [name, value]");
            return;
        }
        pairs[script->n_env].name =
            bs_decode_string(decoder, cJSON_GetArrayItem(pair, 0), pair_at, false);
        pairs[script->n_env++].value =
            bs_decode_string(decoder, cJSON_GetArrayItem(pair, 1), pair_at, false);
    }
    script->env = pairs;
}

void bs_decode_script(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                      struct bs_scripted_backend *script) {
    static const char *const known[] = {"probe", "prepare", "wrap", "shutdown",
                                        "place", "prefix",  "env",  NULL};
    static const char *const probes[] = {"fully", "partial", "unavailable", "error", "hang", NULL};
    static const char *const prepares[] = {"ok", "error", "hang", NULL};
    static const char *const wraps[] = {"ok", "error", "empty", NULL};
    static const char *const shutdowns[] = {"ok", "error", NULL};
    *script = (struct bs_scripted_backend){.backend = {.name = "script",
                                                       .mechanism = "script",
                                                       .ctx = script,
                                                       .probe = probe,
                                                       .prepare = prepare,
                                                       .wrap = wrap,
                                                       .unwrap = unwrap,
                                                       .shutdown = shut_down}};
    if (!cJSON_IsObject(object)) {
        bs_problem(decoder, pointer, "must be an object");
        return;
    }
    bs_refuse_unknown(decoder, object, pointer, known);
    script->probe = decode_word(decoder, object, pointer, "probe", probes);
    script->prepare = decode_word(decoder, object, pointer, "prepare", prepares);
    script->wrap = decode_word(decoder, object, pointer, "wrap", wraps);
    script->shutdown = decode_word(decoder, object, pointer, "shutdown", shutdowns);
    script->place = bs_decode_text(decoder, object, pointer, "place", false);
    script->prefix = bs_decode_strings(decoder, object, pointer, "prefix", &script->n_prefix);
    decode_env(decoder, object, pointer, script);
}
