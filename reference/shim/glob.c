#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include <boxspec/glob.h>
#include <boxspec/path.h>

#include "shim/ops.h"
#include "shim/policy_request.h"

struct text {
    char *data;
    size_t len;
};

struct texts {
    struct text *items;
    size_t n;
};

static void decode_paths(struct bs_decoder *decoder, const cJSON *request, struct texts *paths) {
    char at[BS_POINTER_MOST];
    bool base64 = false;
    const cJSON *list = bs_decode_either(decoder, request, "", "paths", &base64, at);
    *paths = (struct texts){NULL, 0};
    if (!cJSON_IsArray(list)) {
        bs_problem(decoder, at, "must be an array of strings");
        return;
    }
    size_t n = (size_t)cJSON_GetArraySize(list);
    paths->items = bs_decoder_keep(decoder, calloc(n + 1, sizeof *paths->items));
    if (paths->items == NULL)
        return;
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, list) {
        char item_at[BS_POINTER_MOST];
        struct text *path = &paths->items[paths->n];
        path->data = bs_decode_bytes(decoder, item, bs_below_index(item_at, at, paths->n++), base64,
                                     &path->len);
    }
}

static void open_items(struct bs_json_writer *out) {
    bs_json_open_object(out);
    bs_json_put_key(out, "items");
    bs_json_open_array(out);
}

static void close_items(struct bs_json_writer *out) {
    bs_json_close_array(out);
    bs_json_close_object(out);
}

enum bs_answer bs_op_path_normalize(const struct bs_call *call, struct bs_json_writer *out) {
    static const char *const known[] = {"id", "op", "paths", "paths_b64", NULL};
    struct bs_decoder decoder = {0};
    struct texts paths;
    struct bs_error err = BS_ERROR_INIT;
    enum bs_answer answer = BS_ANSWERED;
    bs_refuse_unknown(&decoder, call->request, "", known);
    decode_paths(&decoder, call->request, &paths);
    if (bs_decoder_failed(&decoder)) {
        answer = bs_answer_problems(out, call->id, &decoder);
        goto finish;
    }
    bs_answer_open(out, call->id, "result");
    open_items(out);
    for (size_t i = 0; i < paths.n; i++) {
        struct text *path = &paths.items[i];
        const char *normal = NULL;
        size_t len = 0;
        int code = bs_path_normalize(path->data, path->len, path->data, &normal, &len, &err);
        bs_json_open_object(out);
        if (code == BS_OK) {
            bs_json_put_key(out, "path");
            bs_json_put_string(out, normal, len);
        } else {
            bs_put_error(out, code, err.message);
        }
        bs_json_close_object(out);
    }
    close_items(out);
    bs_answer_close(out);
finish:
    bs_decoder_clear(&decoder);
    return answer;
}

static void put_matches(struct bs_json_writer *out, const struct bs_glob *glob,
                        const struct texts *paths) {
    struct bs_error err = BS_ERROR_INIT;
    open_items(out);
    for (size_t i = 0; i < paths->n; i++) {
        bool matched = false;
        int code = bs_glob_match(glob, paths->items[i].data, paths->items[i].len, &matched, &err);
        bs_json_open_object(out);
        if (code == BS_OK) {
            bs_json_put_key(out, "match");
            bs_json_put_bool(out, matched);
        } else {
            bs_put_error(out, code, err.message);
        }
        bs_json_close_object(out);
    }
    close_items(out);
}

enum bs_answer bs_op_glob_match(const struct bs_call *call, struct bs_json_writer *out) {
    static const char *const known[] = {"id",    "op",        "pattern", "pattern_b64",
                                        "paths", "paths_b64", "case",    NULL};
    struct bs_decoder decoder = {0};
    struct bs_glob *glob = NULL;
    struct bs_error err = BS_ERROR_INIT;
    struct texts paths;
    struct text pattern = {NULL, 0};
    enum bs_answer answer = BS_ANSWERED;
    char at[BS_POINTER_MOST];
    bool base64 = false;
    bs_refuse_unknown(&decoder, call->request, "", known);
    const cJSON *item = bs_decode_either(&decoder, call->request, "", "pattern", &base64, at);
    if (item == NULL)
        bs_problem(&decoder, at, "`pattern` (or `pattern_b64`) is missing");
    else
        pattern.data = bs_decode_bytes(&decoder, item, at, base64, &pattern.len);
    decode_paths(&decoder, call->request, &paths);
    bool fold = bs_decode_fold(&decoder, call->request);
    int code = BS_OK;
    if (!bs_decoder_failed(&decoder))
        code = bs_glob_compile(pattern.data, pattern.len, fold ? BS_CASE_FOLD : BS_CASE_SENSITIVE,
                               &glob, &err);
    if (code == BS_E_INVALID)
        bs_problem(&decoder, at, "%s", err.message);
    if (bs_decoder_failed(&decoder)) {
        answer = bs_answer_problems(out, call->id, &decoder);
        goto finish;
    }
    if (code == BS_OK) {
        bs_answer_open(out, call->id, "result");
        put_matches(out, glob, &paths);
        bs_answer_close(out);
    } else {
        (void)bs_answer_error(out, call->id, code, err.message);
    }
finish:
    bs_glob_free(glob);
    bs_decoder_clear(&decoder);
    return answer;
}
