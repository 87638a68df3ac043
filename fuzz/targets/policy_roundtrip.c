/* A generated policy, written in JSON and in YAML. Both files must have the same problems or give
 * the same policy. That policy must stay the same if it is printed and loaded again. */
#include <stdlib.h>
#include <string.h>

#include <boxspec/profile.h>

#include "support/fail.h"
#include "support/lie.h"
#include "support/policy_case.h"

const char bs_fuzz_target[] = "policy_roundtrip";

/* A policy and, in some cases, a workspace policy over it. Each is in both formats. */
struct input {
    struct bs_fuzz_pool pool;
    struct bs_policy_text global[2];
    struct bs_policy_text workspace[2];
    bool merges;
};

static void decode(struct input *input, const uint8_t *data, size_t size) {
    struct bs_fuzz_provider from = {data, size};
    struct bs_gen_policies gen;
    struct bs_fuzz_style style = {bs_fuzz_byte(&from) * 2654435761U};
    input->merges = bs_fuzz_below(&from, 4) == 3;
    bs_gen_policies_begin(&gen, &from, &input->pool);
    struct bs_fuzz_node *global = bs_gen_policy(&gen);
    struct bs_fuzz_node *workspace = input->merges ? bs_gen_policy(&gen) : NULL;
    for (int format = BS_POLICY_JSON; format <= BS_POLICY_YAML; format++) {
        input->global[format] = bs_fuzz_write(global, (enum bs_policy_format)format, style);
        if (input->merges)
            input->workspace[format] =
                bs_fuzz_write(workspace, (enum bs_policy_format)format, style);
    }
}

static void clear(struct input *input) {
    for (int format = BS_POLICY_JSON; format <= BS_POLICY_YAML; format++) {
        bs_fuzz_text_free(&input->global[format]);
        if (input->merges)
            bs_fuzz_text_free(&input->workspace[format]);
    }
    bs_fuzz_pool_clear(&input->pool);
}

static const struct bs_policy_text *workspace_of(const struct input *input, int format) {
    return input->merges ? &input->workspace[format] : NULL;
}

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    struct input input = {.pool = BS_FUZZ_POOL_INIT};
    decode(&input, data, size);
    for (int format = BS_POLICY_JSON; format <= BS_POLICY_YAML; format++) {
        bs_fuzz_case_open(c, "policy.load");
        bs_fuzz_case_texts(c, &input.global[format], workspace_of(&input, format));
        bs_fuzz_case_close(c);
    }
    clear(&input);
    bs_fuzz_pool_free(&input.pool);
}

static int by_pointer(const void *a, const void *b) {
    const struct bs_policy_problem *x = a;
    const struct bs_policy_problem *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    int order = strcmp(x->pointer, y->pointer);
    return order != 0 || x->code == NULL || y->code == NULL ? order : strcmp(x->code, y->code);
}

/* Check that the same problems are reported for both formats. They are sorted by pointer before the
 * comparison, because lines and columns differ between the formats. */
static void compare_reported(struct bs_policy_problem *a, size_t n_a, struct bs_policy_problem *b,
                             size_t n_b) {
    if (n_a > 0)
        qsort(a, n_a, sizeof *a, by_pointer);
    if (n_b > 0)
        qsort(b, n_b, sizeof *b, by_pointer);
    bool same = n_a == n_b && !bs_fuzz_lie("twins");
    for (size_t i = 0; i < n_a && same; i++)
        same = by_pointer(&a[i], &b[i]) == 0;
    if (!same)
        bs_fuzz_fail("twins", "%zu problems or warnings in JSON and %zu in YAML, or at others", n_a,
                     n_b);
}

static struct bs_policy_text printed(const struct bs_policy *policy, int format,
                                     struct bs_bytes *bytes) {
    struct bs_error err = BS_ERROR_INIT;
    *bytes = (struct bs_bytes)BS_BYTES_INIT;
    if (bs_policy_print(policy, (enum bs_policy_format)format, bytes, &err) != BS_OK)
        bs_fuzz_fail("print", "not printed: %s", err.message);
    return (struct bs_policy_text){bytes->data, bytes->len, (enum bs_policy_format)format};
}

static bool same_text(const struct bs_policy_text *a, const struct bs_policy_text *b) {
    return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

/* Check that a printed policy gives the same text if it is loaded and printed again, in both
 * formats. */
static void check_fixpoint(const struct bs_policy_text *text, const struct bs_policy_text *texts) {
    struct bs_fuzz_load again;
    bs_fuzz_load(text, NULL, &again);
    if (again.code != BS_OK)
        bs_fuzz_fail("print", "the printed policy does not load: %s\n%.*s", again.err.message,
                     (int)text->len, text->data);
    for (int format = BS_POLICY_JSON; format <= BS_POLICY_YAML; format++) {
        struct bs_bytes bytes;
        struct bs_policy_text second = printed(again.policy, format, &bytes);
        if (!same_text(&second, &texts[format]) || bs_fuzz_lie("fixpoint"))
            bs_fuzz_fail("fixpoint", "printed again it is another text:\n%.*s\n%.*s",
                         (int)texts[format].len, texts[format].data, (int)second.len, second.data);
        bs_bytes_clear(&bytes);
    }
    bs_fuzz_load_clear(&again);
}

static void check_printed(const struct bs_policy_text *texts, const struct bs_fuzz_policy *expected,
                          bool merged, struct bs_fuzz_pool *pool) {
    for (int format = BS_POLICY_JSON; format <= BS_POLICY_YAML; format++) {
        struct bs_fuzz_read read;
        struct bs_fuzz_verdict verdict;
        bs_fuzz_read_text(texts[format], pool, &read);
        if (read.root == NULL)
            bs_fuzz_fail("print", "the printed policy is not well-formed:\n%.*s",
                         (int)texts[format].len, texts[format].data);
        bs_fuzz_judge(read.root, NULL, pool, &verdict);
        /* Skip the check if the merge of two files has more rules than one file may contain. */
        if (verdict.problems != NULL && merged)
            continue;
        if (verdict.problems != NULL || !bs_fuzz_same_policy(&verdict.policy, expected) ||
            bs_fuzz_lie("print"))
            bs_fuzz_fail("print", "the printed text is another policy:\n%.*s",
                         (int)texts[format].len, texts[format].data);
        check_fixpoint(&texts[format], texts);
    }
}

/* Print the policies that were loaded from each format. If both give the same text, it is checked
 * only once. */
static void check_print(const struct bs_fuzz_load *loads, const struct bs_fuzz_policy *expected,
                        bool merged, struct bs_fuzz_pool *pool) {
    struct bs_bytes bytes[2][2];
    struct bs_policy_text texts[2][2];
    for (int from = BS_POLICY_JSON; from <= BS_POLICY_YAML; from++) {
        for (int to = BS_POLICY_JSON; to <= BS_POLICY_YAML; to++)
            texts[from][to] = printed(loads[from].policy, to, &bytes[from][to]);
    }
    check_printed(texts[0], expected, merged, pool);
    if (!same_text(&texts[0][0], &texts[1][0]) || !same_text(&texts[0][1], &texts[1][1]))
        check_printed(texts[1], expected, merged, pool);
    for (int i = 0; i < 4; i++)
        bs_bytes_clear(&bytes[i / 2][i % 2]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct input input;
    struct bs_fuzz_load loads[2];
    struct bs_fuzz_verdict verdicts[2];
    bs_fuzz_begin(data, size);
    decode(&input, data, size);
    for (int format = BS_POLICY_JSON; format <= BS_POLICY_YAML; format++)
        bs_fuzz_load_written(&input.global[format], workspace_of(&input, format), &input.pool,
                             &loads[format], &verdicts[format]);
    struct bs_policy_report *json = &loads[BS_POLICY_JSON].report;
    struct bs_policy_report *yaml = &loads[BS_POLICY_YAML].report;
    compare_reported(json->problems, json->n_problems, yaml->problems, yaml->n_problems);
    compare_reported(json->warnings, json->n_warnings, yaml->warnings, yaml->n_warnings);
    if (loads[BS_POLICY_JSON].code == BS_OK && loads[BS_POLICY_YAML].code == BS_OK) {
        if (!bs_fuzz_same_policy(&verdicts[0].policy, &verdicts[1].policy))
            bs_fuzz_fail("written", "the two files are two policies");
        check_print(loads, &verdicts[0].policy, input.merges, &input.pool);
    }
    bs_fuzz_load_clear(&loads[0]);
    bs_fuzz_load_clear(&loads[1]);
    clear(&input);
    return 0;
}
