/* Makes checks as a caller of the library does: one policy, one profile, a decision. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxspec/profile.h>
#include <cjson/cJSON.h>

struct named {
    const char *rule;
    ptrdiff_t index;
};

struct compiled {
    struct bs_profile *profile;
    struct named *rules; /* sorted by name */
    size_t n;
};

static struct bs_decision decision;
static struct bs_error error;

char *bench_policy_text(const struct bench_lines *rules) {
    cJSON *root = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(root, "schemaVersion", 2);
    (void)cJSON_AddStringToObject(root, "kind", "Policy");
    (void)cJSON_AddStringToObject(cJSON_AddObjectToObject(root, "metadata"), "name", "bench");
    cJSON *profiles = cJSON_AddObjectToObject(cJSON_AddObjectToObject(root, "spec"), "fsProfiles");
    cJSON *read = cJSON_AddArrayToObject(cJSON_AddObjectToObject(profiles, BENCH_PROFILE), "read");
    for (size_t i = 0; i < rules->n; i++)
        (void)cJSON_AddItemToArray(read, cJSON_CreateString(rules->items[i].data));
    char *text = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    return text;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct named *)a)->rule, ((const struct named *)b)->rule);
}

static void drop(void *compiled) {
    struct compiled *made = compiled;
    bs_profile_free(made->profile);
    free(made->rules);
    free(made);
}

static int load(const struct bench_lines *rules, struct bs_profile **profile) {
    char *text = bench_policy_text(rules);
    struct bs_policy_text global = {text, text == NULL ? 0 : strlen(text), BS_POLICY_JSON};
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    struct bs_policy *policy = NULL;
    int code = bs_policy_load(&global, NULL, &policy, &report, &error);
    if (code == 0) {
        code = bs_profile_compile(policy, BENCH_PROFILE, 0, profile, &error);
        bs_policy_free(policy);
    }
    bs_policy_report_clear(&report);
    free(text);
    return code;
}

static void *compile(const struct bench_lines *rules, char *why, size_t why_size) {
    struct compiled *made = calloc(1, sizeof *made);
    struct named *names = calloc(rules->n, sizeof *names);
    if (made == NULL || names == NULL || load(rules, &made->profile) != 0) {
        (void)snprintf(why, why_size, "%s", error.message);
        free(made);
        free(names);
        return NULL;
    }
    for (size_t i = 0; i < rules->n; i++)
        names[i] = (struct named){rules->items[i].data, (ptrdiff_t)i};
    qsort(names, rules->n, sizeof *names, by_name);
    made->rules = names;
    made->n = rules->n;
    return made;
}

static ptrdiff_t highest(void *compiled, const char *raw, size_t len) {
    const struct compiled *made = compiled;
    if (bs_profile_check(made->profile, BS_OP_READ, raw, len, &decision, &error) != 0)
        return BENCH_BAD_PATH;
    /* The decision is not cleared: only decisions about long paths own memory, and the lists here
     * have none. */
    return decision.allowed ? (ptrdiff_t)decision.matched_rule : BENCH_NO_RULE;
}

static ptrdiff_t index_of(const void *compiled, ptrdiff_t answer) {
    const struct compiled *made = compiled;
    if (answer < 0)
        return answer;
    struct named key = {(const char *)answer, 0};
    const struct named *found = bsearch(&key, made->rules, made->n, sizeof key, by_name);
    return found == NULL ? BENCH_GAVE_UP : found->index;
}

const struct bench_engine bench_profile = {"check", compile, highest, drop, NULL, index_of, false};
