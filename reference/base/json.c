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

/* An object with a repeated name is refused, because cJSON would use its first member and other
 * readers use the last one. Policies do not use this check: a policy with a repeated name is
 * reported with its position and read further (policy/file/node.h). */
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

/* The state of a walk through the tree. The walk stores the original text of each number that a
 * double may not represent. */
struct spelling {
    const struct bs_json_text *json;
    size_t seen; /* numbers of the tree visited so far */
    size_t next; /* index of the next entry of json->numbers */
};

static bool spell(cJSON *item, struct spelling *s) {
    for (cJSON *child = item->child; child != NULL; child = child->next) {
        if (!spell(child, s))
            return false;
    }
    if (!cJSON_IsNumber(item) || s->next == s->json->n_numbers)
        return true;
    const struct bs_json_number *number = &s->json->numbers[s->next];
    if (s->seen++ != number->index)
        return true;
    item->valuestring = cJSON_malloc(number->len + 1);
    if (item->valuestring == NULL)
        return false;
    memcpy(item->valuestring, s->json->text + number->at, number->len);
    item->valuestring[number->len] = '\0';
    s->next++;
    return true;
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
    struct bs_json_text json = {
        .text = text, .len = len, .around = around, .rewritten = BS_BUF_INIT};
    if (!bs_json_check(&json)) {
        locate(text, json.at, json.problem, err);
        bs_json_text_clear(&json);
        return NULL;
    }
    const struct bs_buf *rewritten = &json.rewritten;
    cJSON *tree = rewritten->len > 0 ? cJSON_ParseWithLength(rewritten->data, rewritten->len)
                                     : cJSON_ParseWithLength(text, len);
    struct spelling spelling = {.json = &json};
    bool is_whole = tree != NULL && (json.n_numbers == 0 || spell(tree, &spelling));
    bs_json_text_clear(&json);
    enum finding finding = is_whole ? find_any_duplicates(tree) : NO_MEMORY;
    if (finding == NONE)
        return tree;
    cJSON_Delete(tree);
    locate(text, 0, finding == FOUND ? "an object has a member twice" : BS_JSON_NO_MEMORY, err);
    return NULL;
}

const char *bs_json_view(const cJSON *item, size_t *len) {
    if (!cJSON_IsString(item))
        return NULL;
    *len = strlen(item->valuestring);
    return memchr(item->valuestring, BS_JSON_NUL, *len) == NULL ? item->valuestring : NULL;
}

char *bs_json_bytes(const cJSON *item, size_t *len, bool *is_string) {
    *is_string = cJSON_IsString(item);
    if (!*is_string)
        return NULL;
    *len = strlen(item->valuestring);
    char *bytes = malloc(*len + 1);
    if (bytes == NULL)
        return NULL;
    memcpy(bytes, item->valuestring, *len + 1);
    for (char *nul = bytes; (nul = memchr(nul, BS_JSON_NUL, *len - (size_t)(nul - bytes))) != NULL;)
        *nul = '\0';
    return bytes;
}

static bool parse_u64(const char *digits, uint64_t *value) {
    uint64_t sum = 0;
    for (const char *digit = digits; *digit != '\0'; digit++) {
        if (*digit < '0' || *digit > '9')
            return false;
        uint64_t step = (uint64_t)(*digit - '0');
        if (sum > (UINT64_MAX - step) / 10)
            return false;
        sum = sum * 10 + step;
    }
    *value = sum;
    return true;
}

bool bs_json_u64(const cJSON *item, uint64_t *value) {
    if (!cJSON_IsNumber(item))
        return false;
    if (item->valuestring != NULL)
        return parse_u64(item->valuestring, value);
    /* An integer of at most 15 digits: a double holds it exactly. */
    if (item->valuedouble < 0)
        return false;
    *value = (uint64_t)item->valuedouble;
    return true;
}
