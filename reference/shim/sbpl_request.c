#define _GNU_SOURCE
#include "shim/sbpl_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/answer.h"

static const cJSON *member(const cJSON *object, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static void put_list(struct bs_decoder *decoder, const cJSON *rules, const char *name,
                     struct bs_json_writer *policy) {
    char at[BS_POINTER_MOST];
    const cJSON *list = member(rules, name);
    (void)bs_below(at, "/rules", name);
    bs_json_put_key(policy, name);
    bs_json_open_array(policy);
    if (list != NULL && !cJSON_IsArray(list)) {
        bs_problem(decoder, at, "must be an array of rules");
        list = NULL;
    }
    const cJSON *item = NULL;
    size_t i = 0;
    cJSON_ArrayForEach(item, list) {
        char item_at[BS_POINTER_MOST];
        if (!cJSON_IsString(item))
            bs_problem(decoder, bs_below_index(item_at, at, i), "must be a string");
        bs_put_given(policy, item);
        i++;
    }
    bs_json_close_array(policy);
}

static void put_policy(struct bs_decoder *decoder, const cJSON *rules,
                       struct bs_json_writer *policy) {
    bs_json_open_object(policy);
    bs_json_put_key(policy, "schemaVersion");
    bs_json_put_u64(policy, 2);
    bs_json_put_key(policy, "kind");
    bs_json_put_text(policy, "Policy");
    bs_json_put_key(policy, "metadata");
    bs_json_open_object(policy);
    bs_json_put_key(policy, "name");
    bs_json_put_text(policy, "rules");
    bs_json_close_object(policy);
    bs_json_put_key(policy, "spec");
    bs_json_open_object(policy);
    bs_json_put_key(policy, "fsProfiles");
    bs_json_open_object(policy);
    bs_json_put_key(policy, BS_RULES_PROFILE);
    bs_json_open_object(policy);
    put_list(decoder, rules, "read", policy);
    put_list(decoder, rules, "modify", policy);
    bs_json_close_object(policy);
    bs_json_close_object(policy);
    put_list(decoder, rules, "denyRead", policy);
    put_list(decoder, rules, "denyModify", policy);
    bs_json_close_object(policy);
    bs_json_close_object(policy);
}

void bs_decode_rules(struct bs_decoder *decoder, const cJSON *rules, struct bs_texts *texts) {
    static const char *const known[] = {"read", "modify", "denyRead", "denyModify", NULL};
    struct bs_json_writer policy = BS_JSON_WRITER_INIT;
    memset(texts, 0, sizeof *texts);
    if (!cJSON_IsObject(rules)) {
        bs_problem(decoder, "/rules", "must be an object with lists of rules");
        return;
    }
    bs_refuse_unknown(decoder, rules, "/rules", known);
    put_policy(decoder, rules, &policy);
    if (policy.text.failed) {
        decoder->out_of_memory = true;
        bs_json_writer_clear(&policy);
        return;
    }
    struct bs_bytes whole = bs_buf_take(&policy.text);
    texts->global =
        (struct bs_policy_text){bs_decoder_keep(decoder, whole.data), whole.len, BS_POLICY_JSON};
}

const char *bs_rules_pointer(const char *pointer, char *buf) {
    static const char *const above[] = {"/spec/fsProfiles/" BS_RULES_PROFILE, "/spec"};
    for (size_t i = 0; i < sizeof above / sizeof *above; i++) {
        size_t len = strlen(above[i]);
        if (strncmp(pointer, above[i], len) == 0 && (pointer[len] == '/' || pointer[len] == '\0')) {
            (void)snprintf(buf, BS_POINTER_MOST, "/rules%.200s", pointer + len);
            return buf;
        }
    }
    return "/rules";
}

static void decode_variables(struct bs_decoder *decoder, const cJSON *request,
                             struct bs_sbpl_input *input) {
    static const char *const known[] = {"HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", NULL};
    const char **const values[] = {&input->home, &input->codex_home, &input->claude_config_dir};
    char at[BS_POINTER_MOST];
    bool base64 = false;
    const cJSON *env = bs_decode_either(decoder, request, "", "env", &base64, at);
    if (env == NULL)
        return;
    if (!cJSON_IsObject(env)) {
        bs_problem(decoder, at, "must be an object with HOME, CODEX_HOME, CLAUDE_CONFIG_DIR");
        return;
    }
    bs_refuse_unknown(decoder, env, at, known);
    for (size_t i = 0; known[i] != NULL; i++) {
        char value_at[BS_POINTER_MOST];
        const cJSON *value = member(env, known[i]);
        if (value != NULL)
            *values[i] = bs_decode_string(decoder, value, bs_below(value_at, at, known[i]), base64);
    }
}

enum bs_provider bs_decode_provider(struct bs_decoder *decoder, const cJSON *request) {
    const cJSON *item = member(request, "provider");
    enum bs_provider provider = BS_PROVIDER_NONE;
    if (item != NULL && !(cJSON_IsString(item) && bs_sbpl_provider(item->valuestring, &provider)))
        bs_problem(decoder, "/provider", "must be \"codex\", \"claude\" or \"gemini\"");
    return provider;
}

void bs_decode_input(struct bs_decoder *decoder, const cJSON *request,
                     struct bs_sbpl_input *input) {
    *input = (struct bs_sbpl_input)BS_SBPL_INPUT_INIT;
    input->root = bs_decode_text(decoder, request, "", "root", true);
    decode_variables(decoder, request, input);
    input->side_roots = bs_decode_strings(decoder, request, "", "side_roots", &input->n_side_roots);
    input->provider = bs_decode_provider(decoder, request);
}
