#define _GNU_SOURCE
#include "shim/exec_request.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"

static const cJSON *member(const cJSON *object, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static void decode_stdin(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                         struct bs_exec_request *request) {
    const cJSON *item = member(object, "stdin");
    char at[BS_POINTER_MOST];
    (void)bs_below(at, pointer, "stdin");
    if (item == NULL || bs_is_word(item, "inherit"))
        return;
    if (bs_is_word(item, "null")) {
        request->stdin_mode = BS_STDIN_NULL;
        return;
    }
    if (!cJSON_IsObject(item)) {
        bs_problem(decoder, at,
                   "must be \"inherit\", \"null\", {\"bytes\": ...} or {\"bytes_b64\": ...}");
        return;
    }
    static const char *const known[] = {"bytes", "bytes_b64", NULL};
    bs_refuse_unknown(decoder, item, at, known);
    char bytes_at[BS_POINTER_MOST];
    bool base64 = false;
    const cJSON *bytes = bs_decode_either(decoder, item, at, "bytes", &base64, bytes_at);
    if (bytes == NULL) {
        bs_problem(decoder, bytes_at, "`bytes` (or `bytes_b64`) is missing");
        return;
    }
    request->stdin_mode = BS_STDIN_BYTES;
    request->stdin_data = bs_decode_bytes(decoder, bytes, bytes_at, base64, &request->stdin_len);
}

void bs_decode_env(struct bs_decoder *decoder, const cJSON *item, const char *pointer,
                   struct bs_exec_request *request) {
    if (item == NULL || bs_is_word(item, "inherit"))
        return;
    if (!cJSON_IsObject(item)) {
        bs_problem(decoder, pointer,
                   "must be \"inherit\" or {\"clear_and_set\": [[name, value], ...]}");
        return;
    }
    static const char *const known[] = {"clear_and_set", "clear_and_set_b64", NULL};
    bs_refuse_unknown(decoder, item, pointer, known);
    char at[BS_POINTER_MOST];
    bool base64 = false;
    const cJSON *list = bs_decode_either(decoder, item, pointer, "clear_and_set", &base64, at);
    if (!cJSON_IsArray(list)) {
        bs_problem(decoder, at, "must be an array of [name, value] pairs");
        return;
    }
    size_t n = (size_t)cJSON_GetArraySize(list);
    struct bs_env_pair *pairs = bs_decoder_keep(decoder, calloc(n + 1, sizeof *pairs));
    const cJSON *pair = NULL;
    size_t i = 0;
    cJSON_ArrayForEach(pair, list) {
        if (pairs == NULL)
            return;
        char pair_at[BS_POINTER_MOST];
        (void)bs_below_index(pair_at, at, i);
        if (!cJSON_IsArray(pair) || cJSON_GetArraySize(pair) != 2) {
            bs_problem(decoder, pair_at, "must be a pair: [name, value]");
            return;
        }
        char name_at[BS_POINTER_MOST];
        char value_at[BS_POINTER_MOST];
        pairs[i].name = bs_decode_string(decoder, cJSON_GetArrayItem(pair, 0),
                                         bs_below(name_at, pair_at, "0"), base64);
        pairs[i].value = bs_decode_string(decoder, cJSON_GetArrayItem(pair, 1),
                                          bs_below(value_at, pair_at, "1"), base64);
        i++;
    }
    request->env_mode = BS_ENV_CLEAR_AND_SET;
    request->env = pairs;
    request->n_env = n;
}

static const uint64_t *decode_limit(struct bs_decoder *decoder, const cJSON *object,
                                    const char *pointer, const char *name) {
    uint64_t value = 0;
    if (!bs_decode_u64(decoder, object, pointer, name, &value))
        return NULL;
    uint64_t *limit = bs_decoder_keep(decoder, malloc(sizeof *limit));
    if (limit != NULL)
        *limit = value;
    return limit;
}

void bs_decode_request(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                       struct bs_exec_request *request) {
    static const char *const known[] = {
        "program",          "program_b64",   "args",  "args_b64", "current_dir",
        "current_dir_b64",  "timeout_ms",    "stdin", "env",      "debug",
        "max_output_bytes", "stdin_failure", NULL};
    *request = (struct bs_exec_request)BS_EXEC_REQUEST_INIT;
    if (!cJSON_IsObject(object)) {
        bs_problem(decoder, pointer, "must be an object with a `program`");
        return;
    }
    bs_refuse_unknown(decoder, object, pointer, known);
    request->program = bs_decode_text(decoder, object, pointer, "program", true);
    request->args = bs_decode_strings(decoder, object, pointer, "args", &request->n_args);
    request->current_dir = bs_decode_text(decoder, object, pointer, "current_dir", false);
    request->timeout_ms = decode_limit(decoder, object, pointer, "timeout_ms");
    decode_stdin(decoder, object, pointer, request);
    char at[BS_POINTER_MOST];
    bs_decode_env(decoder, member(object, "env"), bs_below(at, pointer, "env"), request);
    request->debug = bs_decode_bool(decoder, object, pointer, "debug");
    request->max_output_bytes = decode_limit(decoder, object, pointer, "max_output_bytes");
    const cJSON *failure = member(object, "stdin_failure");
    if (bs_is_word(failure, "ignore"))
        request->stdin_failure = BS_STDIN_FAILURE_IGNORE;
    else if (failure != NULL && !bs_is_word(failure, "error"))
        bs_problem(decoder, bs_below(at, pointer, "stdin_failure"),
                   "must be \"error\" or \"ignore\"");
}

void bs_decode_own_request(struct bs_decoder *decoder, struct bs_decoder *own, const cJSON *object,
                           const char *pointer, struct bs_exec_request *request) {
    own->problems = decoder->problems;
    bs_decode_request(own, object, pointer, request);
    decoder->problems = own->problems;
    decoder->out_of_memory |= own->out_of_memory;
    own->problems = (struct bs_buf)BS_BUF_INIT;
}

int bs_check_nul(const struct bs_decoder *decoder, const struct bs_exec_request *request,
                 struct bs_error *err) {
    if (decoder->nul_in[0] == '\0')
        return BS_OK;
    return bs_fail(err, BS_E_EXECUTION, EINVAL, "failed to spawn `%.900s`: %s holds a NUL byte",
                   request->program, decoder->nul_in);
}
