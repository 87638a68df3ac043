/* Arbitrary bytes as the input and the output of a module. Both must be accepted exactly if they
 * are JSON, passed on byte by byte, and accepted again afterwards. The module is a function, so no
 * process is started. */
#include <stdlib.h>
#include <string.h>

#include <boxspec/module.h>

#include "module/output.h"
#include "support/case.h"
#include "support/fail.h"
#include "support/json_oracle.h"
#include "support/lie.h"
#include "support/provider.h"
#include "support/request_oracle.h"

const char bs_fuzz_target[] = "module_json";

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    bs_fuzz_case_open(c, "module.execute");
    bs_fuzz_case_text(c, "text", (const char *)data, size);
    bs_fuzz_case_close(c);
}

struct module {
    const char *answer;
    size_t len;
    bool called;
    bool same; /* the input was passed unchanged */
    const char *input;
    size_t input_len;
};

static int answer(void *ctx, const char *id, const char *input, size_t input_len,
                  struct bs_bytes *output, struct bs_error *err) {
    struct module *module = ctx;
    (void)id;
    (void)err;
    module->called = true;
    module->same = input_len == module->input_len &&
                   (input_len == 0 || memcmp(input, module->input, input_len) == 0);
    output->data = malloc(module->len + 1);
    if (output->data == NULL)
        return BS_E_EXECUTION;
    if (module->len > 0)
        memcpy(output->data, module->answer, module->len);
    output->data[module->len] = '\0';
    output->len = module->len;
    return BS_OK;
}

static int execute(struct module *module, struct bs_module_result *result, struct bs_error *err) {
    struct bs_module_request request = BS_MODULE_REQUEST_INIT;
    request.id = "a";
    request.enabled = false;
    request.input = module->input;
    request.input_len = module->input_len;
    request.function = answer;
    request.function_ctx = module;
    return bs_module_execute(&request, result, err);
}

static void judge_input(const char *text, size_t len, bool is) {
    struct bs_module_result result;
    struct bs_error err = BS_ERROR_INIT;
    struct module module = {.answer = "null", .len = 4, .input = text, .input_len = len};
    int code = execute(&module, &result, &err);
    bool taken = code == BS_OK && result.outcome == BS_MODULE_VALUE;
    if (code == BS_E_EXECUTION)
        return; /* out of memory */
    if (taken != is || module.called != is || bs_fuzz_lie("input"))
        bs_fuzz_fail("input", "%s, and should not be: %s", taken ? "accepted" : "refused",
                     err.message);
    if (is && (!module.same || bs_fuzz_lie("passed")))
        bs_fuzz_fail("passed", "the module got something else than was asked");
    if (!is && (code != BS_E_INVALID || err.message[0] == '\0' || bs_fuzz_lie("reason")))
        bs_fuzz_fail("reason", "refused with %d `%s`", code, err.message);
    bs_module_result_clear(&result);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* Check that the value is the text without the white space around it, in memory of its own. */
static void judge_value(const char *text, size_t len, const struct bs_bytes *value) {
    while (len > 0 && is_blank(text[0])) {
        text++;
        len--;
    }
    while (len > 0 && is_blank(text[len - 1]))
        len--;
    if (value->len != len || memcmp(value->data, text, len) != 0 || bs_fuzz_lie("value"))
        bs_fuzz_fail("value", "the value is %.*s", (int)value->len, value->data);
    struct bs_module_result again;
    struct module module = {value->data, value->len, false, false, value->data, value->len};
    int code = execute(&module, &again, NULL);
    if (code == BS_E_EXECUTION)
        return;
    if (code != BS_OK || again.outcome != BS_MODULE_VALUE || again.value.len != value->len ||
        memcmp(again.value.data, value->data, value->len) != 0 || bs_fuzz_lie("again"))
        bs_fuzz_fail("again", "a returned value is not accepted as an input");
    bs_module_result_clear(&again);
}

static void judge_output(const char *text, size_t len, bool is) {
    struct bs_module_result result;
    struct bs_error err = BS_ERROR_INIT;
    struct module module = {.answer = text, .len = len, .input = "null", .input_len = 4};
    int code = execute(&module, &result, &err);
    if (code == BS_E_EXECUTION)
        return;
    enum bs_module_outcome wanted = is ? BS_MODULE_VALUE : BS_MODULE_OUTPUT_PARSE;
    if (code != BS_OK || result.outcome != wanted || bs_fuzz_lie("output"))
        bs_fuzz_fail("output", "the outcome is %s: %s", bs_module_outcome_name(result.outcome),
                     result.message);
    if (is)
        judge_value(text, len, &result.value);
    else if (result.message[0] == '\0' || result.value.len > 0 || bs_fuzz_lie("reason"))
        bs_fuzz_fail("reason", "an output is refused without a reason");
    bs_module_result_clear(&result);
}

/* Check the same text as the output of a module that left a process which held stdout. Only a
 * number without white space after it is refused then. */
static void judge_cut_output(const char *text, size_t len, bool is) {
    struct bs_module_result result = BS_MODULE_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    struct bs_bytes output = {.data = malloc(len + 1), .len = len};
    if (output.data == NULL)
        return;
    if (len > 0)
        memcpy(output.data, text, len);
    output.data[len] = '\0';
    int code = bs_module_check_output(&output, false, &result, &err);
    size_t first = 0;
    while (first < len && is_blank(text[first]))
        first++;
    bool is_number = is && (text[first] == '-' || (text[first] >= '0' && text[first] <= '9'));
    bool taken = is && !(is_number && !is_blank(text[len - 1]));
    enum bs_module_outcome wanted = taken ? BS_MODULE_VALUE : BS_MODULE_OUTPUT_PARSE;
    if (code == BS_OK && (result.outcome != wanted || bs_fuzz_lie("cut")))
        bs_fuzz_fail("cut", "the outcome is %s: %s", bs_module_outcome_name(result.outcome),
                     result.message);
    bs_bytes_clear(&output);
    bs_module_result_clear(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct bs_fuzz_pool pool;
    struct bs_fuzz_json json;
    bs_fuzz_begin(data, size);
    char *block = bs_fuzz_block(data, size);
    bs_fuzz_json_read(block, size, true, &pool, &json);
    bool is = json.root != NULL && !bs_fuzz_has_repeated(json.root);
    judge_input(block, size, is);
    judge_output(block, size, is);
    judge_cut_output(block, size, is);
    free(block);
    bs_fuzz_pool_clear(&pool);
    return 0;
}
