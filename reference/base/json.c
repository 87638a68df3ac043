#define _GNU_SOURCE
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/position.h"

struct name {
    const char *text;
};

static int by_text(const void *a, const void *b) {
    const struct name *x = a;
    const struct name *y = b;
    return strcmp(x->text, y->text);
}

static bool has_earlier(const cJSON *object, const cJSON *member) {
    const cJSON *earlier = object->child;
    while (earlier != member && (earlier->string[0] != member->string[0] ||
                                 strcmp(earlier->string, member->string) != 0))
        earlier = earlier->next;
    return earlier != member;
}

/* cJSON keeps both members of one name and finds the first; other readers find the last. Policies
 * have a finder of their own (policy/file/node.h): it walks a tree with places, names each
 * repetition and goes on without it, where a request is refused as a whole. */
enum finding { NONE, FOUND, NO_MEMORY };

static enum finding find_duplicates(const cJSON *object) {
    enum { FEW = 8 };
    size_t n = 0;
    const cJSON *member = object->child;
    for (; member != NULL && n < FEW; member = member->next, n++) {
        if (has_earlier(object, member))
            return FOUND;
    }
    if (member == NULL)
        return NONE;
    n = (size_t)cJSON_GetArraySize(object);
    struct name *names = calloc(n, sizeof *names);
    if (names == NULL)
        return NO_MEMORY;
    size_t i = 0;
    cJSON_ArrayForEach(member, object) names[i++].text = member->string;
    qsort(names, n, sizeof *names, by_text);
    bool found = false;
    for (i = 1; i < n && !found; i++)
        found = strcmp(names[i - 1].text, names[i].text) == 0;
    free(names);
    return found ? FOUND : NONE;
}

static bool is_container(const cJSON *item) {
    return (item->type & (cJSON_Object | cJSON_Array)) != 0;
}

static enum finding find_any_duplicates(const cJSON *item) {
    enum finding finding = (item->type & cJSON_Object) != 0 ? find_duplicates(item) : NONE;
    for (const cJSON *child = item->child; child != NULL && finding == NONE; child = child->next) {
        if (is_container(child))
            finding = find_any_duplicates(child);
    }
    return finding;
}

static void locate(const char *text, size_t at, const char *problem, struct bs_json_error *err) {
    struct bs_position where = bs_position_of(text, at);
    err->out_of_memory = problem == BS_JSON_NO_MEMORY;
    err->line = where.line;
    err->column = where.column;
    size_t len = strlen(problem);
    if (len >= sizeof err->message)
        len = sizeof err->message - 1;
    memcpy(err->message, problem, len);
    err->message[len] = '\0';
}

cJSON *bs_json_parse(const char *text, size_t len, struct bs_json_error *err) {
    return bs_json_parse_around(text, len, 0, err);
}

cJSON *bs_json_parse_around(const char *text, size_t len, unsigned around,
                            struct bs_json_error *err) {
    struct bs_json_text json = {.text = text, .len = len, .around = around, .marked = BS_BUF_INIT};
    cJSON *tree = NULL;
    if (!bs_json_recognise(&json)) {
        locate(text, json.at, json.problem, err);
        bs_json_text_clear(&json);
        return NULL;
    }
    bool copied = json.marked.len > 0;
    tree = cJSON_ParseWithLength(copied ? json.marked.data : text, copied ? json.marked.len : len);
    bs_json_text_clear(&json);
    enum finding finding = tree != NULL ? find_any_duplicates(tree) : NO_MEMORY;
    if (finding == NONE)
        return tree;
    cJSON_Delete(tree);
    locate(text, 0, finding == FOUND ? "an object has a member twice" : BS_JSON_NO_MEMORY, err);
    return NULL;
}

static bool has_mark(const cJSON *item, int mark) {
    return cJSON_IsString(item) && (unsigned char)item->valuestring[0] == mark;
}

bool bs_json_is_string(const cJSON *item) {
    return cJSON_IsString(item) && !has_mark(item, BS_JSON_INTEGER_MARK) &&
           !has_mark(item, BS_JSON_REAL_MARK);
}

const char *bs_json_view(const cJSON *item, size_t *len) {
    if (!bs_json_is_string(item))
        return NULL;
    *len = strlen(item->valuestring);
    return memchr(item->valuestring, BS_JSON_NUL_MARK, *len) == NULL ? item->valuestring : NULL;
}

char *bs_json_bytes(const cJSON *item, size_t *len, bool *is_string) {
    *is_string = bs_json_is_string(item);
    if (!*is_string)
        return NULL;
    char *copy = strdup(item->valuestring);
    if (copy == NULL)
        return NULL;
    *len = strlen(copy);
    for (size_t i = 0; i < *len; i++) {
        if ((unsigned char)copy[i] == BS_JSON_NUL_MARK)
            copy[i] = '\0';
    }
    return copy;
}

bool bs_json_u64(const cJSON *item, uint64_t *value_out) {
    if (cJSON_IsNumber(item)) {
        double number_value = item->valuedouble;
        if (!(number_value >= 0 && number_value <= 999999999999999.0))
            return false;
        *value_out = (uint64_t)number_value;
        return (double)*value_out == number_value;
    }
    if (!has_mark(item, BS_JSON_INTEGER_MARK))
        return false;
    uint64_t sum = 0;
    for (const char *digit = item->valuestring + 1; *digit != '\0'; digit++) {
        if (*digit < '0' || *digit > '9')
            return false;
        uint64_t step = (uint64_t)(*digit - '0');
        if (sum > (UINT64_MAX - step) / 10)
            return false;
        sum = sum * 10 + step;
    }
    *value_out = sum;
    return true;
}
