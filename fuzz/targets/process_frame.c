/* Arbitrary JSON as a script of steps. A script that the contract's page forbids must be refused
 * with its place, and a plain script must be decoded correctly. No process is started. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "shim/process_request.h"
#include "support/case.h"
#include "support/fail.h"
#include "support/json_oracle.h"
#include "support/lie.h"
#include "support/problems.h"
#include "support/provider.h"
#include "support/request_oracle.h"

const char bs_fuzz_target[] = "process_frame";

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    bs_fuzz_case_open(c, "process.script");
    bs_fuzz_case_text(c, "line", (const char *)data, size);
    bs_fuzz_case_close(c);
}

static bool is_text(const struct bs_fuzz_node *node, const char *text) {
    return node != NULL && node->kind == BS_FUZZ_STRING && node->len == strlen(text) &&
           memcmp(node->text, text, node->len) == 0;
}

static bool is_string(const struct bs_fuzz_node *node) {
    return node != NULL && node->kind == BS_FUZZ_STRING;
}

/* Return the value of a small number in plain spelling, or -1. */
static long small(const struct bs_fuzz_node *node) {
    long value = 0;
    if (node == NULL || node->kind != BS_FUZZ_INTEGER || node->len == 0 || node->len > 9)
        return -1;
    for (size_t i = 0; i < node->len; i++) {
        if (node->text[i] < '0' || node->text[i] > '9')
            return -1;
        value = value * 10 + (node->text[i] - '0');
    }
    return value;
}

static int kind_of(const struct bs_fuzz_node *step) {
    for (int i = 0; i < BS_STEP_KINDS; i++) {
        if (is_text(bs_fuzz_field(step, "step"), bs_step_names[i]))
            return i;
    }
    return -1;
}

static const struct bs_fuzz_node *named(const struct bs_fuzz_node *handles,
                                        const struct bs_fuzz_node *name) {
    return is_string(name) && strlen(name->text) == name->len ? bs_fuzz_field(handles, name->text)
                                                              : NULL;
}

/* True if the page forbids the step, however it is read. */
static bool step_is_wrong(const struct bs_fuzz_node *handles, const struct bs_fuzz_node *step,
                          bool repeated) {
    int kind = kind_of(step);
    if (kind < 0)
        return true;
    if (kind == BS_STEP_JOIN)
        return repeated || !is_string(bs_fuzz_field(step, "thread"));
    if (kind != BS_STEP_REPEAT) {
        const struct bs_fuzz_node *name = bs_fuzz_field(step, "handle");
        return !is_string(name) ||
               (strlen(name->text) == name->len && named(handles, name) == NULL) ||
               (repeated && is_string(bs_fuzz_field(step, "thread")));
    }
    const struct bs_fuzz_node *steps = bs_fuzz_field(step, "steps");
    bool wrong = repeated || bs_fuzz_field(step, "count") == NULL || steps == NULL ||
                 steps->kind != BS_FUZZ_LIST;
    for (const struct bs_fuzz_node *each = wrong ? NULL : steps->first; each != NULL && !wrong;
         each = each->next)
        wrong = step_is_wrong(handles, each, true);
    return wrong;
}

static bool is_wrong(const struct bs_fuzz_node *root) {
    const struct bs_fuzz_node *handles = bs_fuzz_field(root, "handles");
    const struct bs_fuzz_node *steps = bs_fuzz_field(root, "steps");
    if (handles == NULL || handles->kind != BS_FUZZ_MAP || steps == NULL ||
        steps->kind != BS_FUZZ_LIST)
        return true;
    for (const struct bs_fuzz_node *step = steps->first; step != NULL; step = step->next) {
        if (step_is_wrong(handles, step, false))
            return true;
    }
    return false;
}

/* True if the handles have only a program, and the steps have no options other than those checked
 * here. */
static bool is_plain(const struct bs_fuzz_node *root) {
    static const char *const bare[] = {"open", "poll",  "terminate", "kill",
                                       "drop", "close", "wait"};
    const struct bs_fuzz_node *handles = bs_fuzz_field(root, "handles");
    const struct bs_fuzz_node *steps = bs_fuzz_field(root, "steps");
    for (const struct bs_fuzz_node *key = handles->first; key != NULL; key = key->next->next) {
        const struct bs_fuzz_node *request = bs_fuzz_field(key->next, "request");
        const struct bs_fuzz_node *program = bs_fuzz_field(request, "program");
        /* Require exactly one member of each kind, so that only the members that are checked here
         * can be wrong. */
        if (strlen(key->text) != key->len || request == NULL || key->next->first->next->next ||
            !is_string(program) || request->first->next->next ||
            strlen(program->text) != program->len)
            return false;
    }
    for (const struct bs_fuzz_node *step = steps->first; step != NULL; step = step->next) {
        size_t members = 0;
        bool known = false;
        for (const struct bs_fuzz_node *key = step->first; key != NULL; key = key->next->next)
            members++;
        for (size_t i = 0; i < sizeof bare / sizeof *bare; i++)
            known = known || is_text(bs_fuzz_field(step, "step"), bare[i]);
        if (!known || members != 2 || named(handles, bs_fuzz_field(step, "handle")) == NULL)
            return false;
    }
    return true;
}

static const char *step_differs(const struct bs_script_step *step,
                                const struct bs_fuzz_node *node) {
    const struct bs_fuzz_node *thread = bs_fuzz_field(node, "thread");
    if ((int)step->kind != kind_of(node))
        return "step";
    if (thread != NULL && (step->thread == NULL || !is_text(thread, step->thread)))
        return "thread";
    if (step->kind == BS_STEP_JOIN)
        return NULL;
    if (step->kind != BS_STEP_REPEAT)
        return is_text(bs_fuzz_field(node, "handle"), step->handle->name) ? NULL : "handle";
    long count = small(bs_fuzz_field(node, "count"));
    if (count >= 0 && step->count != (uint64_t)count)
        return "count";
    const struct bs_fuzz_node *each = bs_fuzz_field(node, "steps")->first;
    for (size_t i = 0; i < step->n_inner; i++, each = each->next) {
        const char *differs = each == NULL ? "steps" : step_differs(&step->inner[i], each);
        if (differs != NULL)
            return differs;
    }
    return each == NULL ? NULL : "steps";
}

static const char *difference(const struct bs_script *script, const struct bs_fuzz_node *root) {
    const struct bs_fuzz_node *node = bs_fuzz_field(root, "steps")->first;
    for (size_t i = 0; i < script->n_steps; i++, node = node->next) {
        const char *differs = node == NULL ? "steps" : step_differs(&script->steps[i], node);
        if (differs != NULL)
            return differs;
    }
    return node == NULL ? NULL : "steps";
}

static void check(const cJSON *tree, const struct bs_fuzz_node *root, struct bs_fuzz_pool *pool) {
    struct bs_script script = {.n_steps = 0};
    bs_script_decode(&script, tree);
    bool refused = bs_decoder_failed(&script.decoder);
    bool wrong = is_wrong(root);
    if (!bs_decoder_out_of_memory(&script.decoder)) {
        if ((wrong && !refused) || bs_fuzz_lie("taken"))
            bs_fuzz_fail("taken", "a script is decoded that the page does not allow");
        if (!wrong && is_plain(root) && (refused || bs_fuzz_lie("refused")))
            bs_fuzz_fail("refused", "a plain script is refused: %s", script.decoder.problems.data);
        if (refused)
            bs_fuzz_check_problems(&script.decoder, "", pool);
    }
    if (!refused) {
        const char *differs = difference(&script, root);
        if (differs != NULL || bs_fuzz_lie("value"))
            bs_fuzz_fail("value", "`%s` is decoded as something else", differs);
    }
    bs_decoder_clear(&script.decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct bs_fuzz_pool pool;
    struct bs_fuzz_json json;
    struct bs_json_error err;
    bs_fuzz_begin(data, size);
    char *block = bs_fuzz_block(data, size);
    bs_fuzz_json_read(block, size, true, &pool, &json);
    cJSON *tree = bs_json_parse(block, size, &err);
    if (tree != NULL && json.root != NULL && json.root->kind == BS_FUZZ_MAP)
        check(tree, json.root, &pool);
    cJSON_Delete(tree);
    free(block);
    bs_fuzz_pool_clear(&pool);
    return 0;
}
