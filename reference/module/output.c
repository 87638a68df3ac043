#define _GNU_SOURCE
#include "module/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

bool bs_module_is_json(const char *text, size_t len, struct bs_json_error *why, bool *is) {
    cJSON *tree = bs_json_parse(len > 0 ? text : "", len, why);
    *is = tree != NULL;
    cJSON_Delete(tree);
    return *is || !why->out_of_memory;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static size_t leading_spaces(const struct bs_bytes *output) {
    size_t n = 0;
    while (is_space(output->data[n]))
        n++;
    return n;
}

/* True if the JSON text is a number that further bytes could continue. */
static bool ends_in_number(const struct bs_bytes *output) {
    char first = output->data[leading_spaces(output)];
    bool is_number = first == '-' || (first >= '0' && first <= '9');
    return is_number && !is_space(output->data[output->len - 1]);
}

int bs_module_check_output(struct bs_bytes *output, bool complete, struct bs_module_result *result,
                           struct bs_error *err) {
    struct bs_json_error why;
    bool is = false;
    if (!bs_module_is_json(output->data, output->len, &why, &is))
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory");
    if (!is) {
        result->outcome = BS_MODULE_OUTPUT_PARSE;
        (void)snprintf(result->message, sizeof result->message,
                       "the output is not one JSON value: line %zu, column %zu: %s", why.line,
                       why.column, why.message);
        return BS_OK;
    }
    if (!complete && ends_in_number(output)) {
        result->outcome = BS_MODULE_OUTPUT_PARSE;
        (void)snprintf(result->message, sizeof result->message,
                       "the last digits of the number may be lost: a process that the module left "
                       "held stdout; end the output with a line feed");
        return BS_OK;
    }
    size_t start = leading_spaces(output);
    while (is_space(output->data[output->len - 1]))
        output->len--;
    output->len -= start;
    memmove(output->data, output->data + start, output->len);
    output->data[output->len] = '\0';
    result->value = *output;
    *output = (struct bs_bytes)BS_BYTES_INIT;
    result->outcome = BS_MODULE_VALUE;
    return BS_OK;
}
