#include <stdio.h>
#include <string.h>

#include "base/json.h"

/* A NUL was handed through cJSON as a mark. */
static void put_text(struct bs_buf *out, const char *text) {
    size_t len = strlen(text);
    if (strchr(text, BS_JSON_NUL_MARK) == NULL) {
        bs_json_put_string(out, text, len);
        return;
    }
    struct bs_buf plain = BS_BUF_INIT;
    bs_buf_add(&plain, text, len);
    for (size_t i = 0; i < plain.len; i++) {
        if ((unsigned char)plain.data[i] == BS_JSON_NUL_MARK)
            plain.data[i] = '\0';
    }
    bs_json_put_string(out, plain.failed ? "" : plain.data, plain.len);
    out->failed |= plain.failed;
    bs_buf_clear(&plain);
}

/* What is no marked text has at most 15 digits and no fraction: a double holds it exactly. */
static void put_number(struct bs_buf *out, double number) {
    char digits[32];
    (void)snprintf(digits, sizeof digits, "%.0f", number);
    bs_buf_str(out, digits);
}

/* The depth is bounded by the recogniser. */
void bs_json_put_tree(struct bs_buf *out, const cJSON *item) {
    if (cJSON_IsArray(item) || cJSON_IsObject(item)) {
        bs_buf_char(out, cJSON_IsArray(item) ? '[' : '{');
        for (const cJSON *child = item->child; child != NULL; child = child->next) {
            if (child != item->child)
                bs_buf_char(out, ',');
            if (cJSON_IsObject(item)) {
                put_text(out, child->string);
                bs_buf_char(out, ':');
            }
            bs_json_put_tree(out, child);
        }
        bs_buf_char(out, cJSON_IsArray(item) ? ']' : '}');
    } else if (bs_json_is_string(item)) {
        put_text(out, item->valuestring);
    } else if (cJSON_IsString(item)) {
        bs_buf_str(out, item->valuestring + 1); /* a number, behind its mark */
    } else if (cJSON_IsNumber(item)) {
        put_number(out, item->valuedouble);
    } else {
        bs_buf_str(out, cJSON_IsTrue(item) ? "true" : cJSON_IsFalse(item) ? "false" : "null");
    }
}
