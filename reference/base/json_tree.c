#include <stdio.h>
#include <string.h>

#include "base/json.h"

/* A NUL was handed through cJSON as a mark. */
static void add_text(struct bs_json_writer *out, const char *text) {
    const char *mark = NULL;
    while ((mark = strchr(text, BS_JSON_NUL_MARK)) != NULL) {
        bs_json_add_text(out, text, (size_t)(mark - text));
        bs_json_add_text(out, "", 1);
        text = mark + 1;
    }
    bs_json_add_text(out, text, strlen(text));
}

/* What is no marked text has at most 15 digits and no fraction: a double holds it exactly. */
static void put_number(struct bs_json_writer *out, double number) {
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%.0f", number);
    bs_json_put_value(out, digits, (size_t)n);
}

/* The depth is bounded by the recogniser. */
void bs_json_put_tree(struct bs_json_writer *out, const cJSON *item) {
    if (cJSON_IsArray(item)) {
        bs_json_open_array(out);
        for (const cJSON *child = item->child; child != NULL; child = child->next)
            bs_json_put_tree(out, child);
        bs_json_close_array(out);
    } else if (cJSON_IsObject(item)) {
        bs_json_open_object(out);
        for (const cJSON *child = item->child; child != NULL; child = child->next) {
            bs_json_open_string(out);
            add_text(out, child->string);
            bs_json_close_key(out);
            bs_json_put_tree(out, child);
        }
        bs_json_close_object(out);
    } else if (bs_json_is_string(item)) {
        bs_json_open_string(out);
        add_text(out, item->valuestring);
        bs_json_close_string(out);
    } else if (cJSON_IsString(item)) {
        bs_json_put_value(out, item->valuestring + 1, strlen(item->valuestring + 1));
    } else if (cJSON_IsNumber(item)) {
        put_number(out, item->valuedouble);
    } else if (cJSON_IsBool(item)) {
        bs_json_put_bool(out, cJSON_IsTrue(item));
    } else {
        bs_json_put_null(out);
    }
}
