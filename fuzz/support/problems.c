#include "support/problems.h"

#include <string.h>

#include "support/fail.h"
#include "support/json_oracle.h"
#include "support/lie.h"
#include "support/request_oracle.h"

static bool is_string(const struct bs_fuzz_node *node) {
    return node != NULL && node->kind == BS_FUZZ_STRING;
}

static bool points_below(const struct bs_fuzz_node *pointer, const char *below) {
    size_t len = strlen(below);
    return is_string(pointer) && strncmp(pointer->text, below, len) == 0 &&
           (pointer->len == len || pointer->text[len] == '/');
}

void bs_fuzz_check_problems(const struct bs_decoder *decoder, const char *below,
                            struct bs_fuzz_pool *pool) {
    struct bs_json_writer list = BS_JSON_WRITER_INIT;
    struct bs_fuzz_json json;
    bs_decoder_put_problems(decoder, &list);
    bs_fuzz_json_read(list.text.data, list.text.len, true, pool, &json);
    bool right = json.root != NULL && json.root->first != NULL && !bs_fuzz_lie("problems");
    for (const struct bs_fuzz_node *item = right ? json.root->first : NULL; item != NULL && right;
         item = item->next) {
        const struct bs_fuzz_node *message = bs_fuzz_field(item, "message");
        right = points_below(bs_fuzz_field(item, "pointer"), below) && is_string(message) &&
                message->len > 0;
    }
    if (!right)
        bs_fuzz_fail("problems", "refused with %.*s", (int)list.text.len, list.text.data);
    bs_json_writer_clear(&list);
}
