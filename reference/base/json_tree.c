#include <stdio.h>
#include <string.h>

#include "base/json.h"

static void add_text(struct bs_json_writer *out, const char *text) {
    const char *nul = NULL;
    while ((nul = strchr(text, BS_JSON_NUL)) != NULL) {
        bs_json_add_text(out, text, (size_t)(nul - text));
        bs_json_add_text(out, "", 1); /* the NUL that ends the literal */
        text = nul + 1;
    }
    bs_json_add_text(out, text, strlen(text));
}

static void put_number(struct bs_json_writer *out, const cJSON *item) {
    char digits[32];
    const char *text = item->valuestring;
    if (text == NULL) {
        (void)snprintf(digits, sizeof digits, "%.0f", item->valuedouble);
        text = digits;
    }
    bs_json_put_value(out, text, strlen(text));
}

/* Write a tree by recursion. This is safe, because bs_json_parse has limited the depth of the
 * tree. */
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
    } else if (cJSON_IsString(item)) {
        bs_json_open_string(out);
        add_text(out, item->valuestring);
        bs_json_close_string(out);
    } else if (cJSON_IsNumber(item)) {
        put_number(out, item);
    } else if (cJSON_IsBool(item)) {
        bs_json_put_bool(out, cJSON_IsTrue(item));
    } else {
        bs_json_put_null(out);
    }
}
