#include "support/eval_case.h"

#include <string.h>

#include "base/json_write.h"

void bs_eval_case_read(struct bs_eval_case *input, const uint8_t *data, size_t size) {
    *input = (struct bs_eval_case){.pool = input->pool, .from = {data, size}};
    struct bs_gen_policies *gen = &input->gen;
    input->style.state = bs_fuzz_byte(&input->from) * 2654435761U;
    uint32_t shape = bs_fuzz_below(&input->from, 16);
    input->law = bs_fuzz_byte(&input->from);
    input->formats[0] = shape % 4 == 3 ? BS_POLICY_YAML : BS_POLICY_JSON;
    input->formats[1] = shape % 8 >= 6 ? BS_POLICY_YAML : BS_POLICY_JSON;
    bs_gen_policies_begin(gen, &input->from, &input->pool);
    input->global = bs_gen_policy(gen);
    input->workspace = shape >= 12 ? bs_gen_policy(gen) : NULL;
    input->profile = bs_gen_profile_name(gen);
    input->n_paths = 1 + bs_fuzz_below(&input->from, BS_EVAL_MOST_PATHS);
    for (size_t i = 0; i < input->n_paths; i++)
        input->paths[i] = bs_gen_path(gen);
}

void bs_eval_case_clear(struct bs_eval_case *input) { bs_fuzz_pool_clear(&input->pool); }

void bs_eval_case_write(const struct bs_eval_case *input, struct bs_policy_text *global,
                        struct bs_policy_text *workspace) {
    *global = bs_fuzz_write(input->global, input->formats[0], input->style);
    if (input->workspace != NULL)
        *workspace = bs_fuzz_write(input->workspace, input->formats[1], input->style);
}

static void put_checks(struct bs_buf *out, const struct bs_eval_case *input) {
    static const char *const ops[] = {"read", "modify"};
    bs_buf_char(out, '[');
    for (size_t i = 0; i < 2 * input->n_paths; i++) {
        const struct bs_fuzz_text *path = &input->paths[i / 2];
        bs_buf_str(out, i > 0 ? ",{\"op\":\"" : "{\"op\":\"");
        bs_buf_str(out, ops[i % 2]);
        bs_buf_str(out, "\",\"path\":");
        bs_json_quote(out, path->text, path->len);
        if (input->profile != NULL) {
            bs_buf_str(out, ",\"profile\":");
            bs_json_quote(out, input->profile, strlen(input->profile));
        }
        bs_buf_char(out, '}');
    }
    bs_buf_char(out, ']');
}

void bs_eval_case_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    struct bs_eval_case input = {.pool = BS_FUZZ_POOL_INIT};
    struct bs_policy_text global;
    struct bs_policy_text workspace = {NULL, 0, BS_POLICY_JSON};
    struct bs_buf checks = BS_BUF_INIT;
    bs_eval_case_read(&input, data, size);
    bs_eval_case_write(&input, &global, &workspace);
    put_checks(&checks, &input);
    bs_fuzz_case_open(c, "policy.check");
    bs_fuzz_case_policy(c, &global, input.workspace != NULL ? &workspace : NULL);
    bs_fuzz_case_json(c, "checks", checks.data, checks.len);
    bs_fuzz_case_close(c);
    bs_buf_clear(&checks);
    bs_fuzz_text_free(&global);
    bs_fuzz_text_free(&workspace);
    bs_eval_case_clear(&input);
    bs_fuzz_pool_free(&input.pool);
}

struct bs_profile *bs_eval_compile(const struct bs_eval_case *input, unsigned flags) {
    struct bs_policy_text global;
    struct bs_policy_text workspace = {NULL, 0, BS_POLICY_JSON};
    struct bs_fuzz_load load;
    struct bs_profile *profile = NULL;
    bs_eval_case_write(input, &global, &workspace);
    bs_fuzz_load(&global, input->workspace != NULL ? &workspace : NULL, &load);
    if (load.code == BS_OK)
        (void)bs_profile_compile(load.policy, input->profile, flags, &profile, NULL);
    bs_fuzz_load_clear(&load);
    bs_fuzz_text_free(&global);
    bs_fuzz_text_free(&workspace);
    return profile;
}
