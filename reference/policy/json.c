#include "policy/json.h"

#include <stdio.h>
#include <string.h>

#include <boxspec/error.h>
#include <cjson/cJSON.h>

#include "base/json_text.h"
#include "policy/arena.h"
#include "policy/position.h"

struct joiner {
    const char *text;
    size_t len;
    const struct bs_json_place *place; /* of the next name or value */
    struct bs_node *room;              /* as many nodes as there are places */
};

static struct bs_node *next_node(struct joiner *j, enum bs_node_kind kind) {
    struct bs_node *node = j->room++;
    *node = (struct bs_node){.line = j->place->line, .column = j->place->column, .kind = kind};
    j->place++;
    return node;
}

static struct bs_node *text_node(struct joiner *j, enum bs_node_kind kind, const char *text,
                                 size_t len) {
    struct bs_node *node = next_node(j, kind);
    node->text = text;
    node->len = (uint32_t)len;
    return node;
}

/* Where there was nothing to decode the text itself is nearer than the copy in the tree. */
static struct bs_node *string_node(struct joiner *j, const char *decoded) {
    if (j->place->len == BS_JSON_ESCAPED)
        return text_node(j, BS_NODE_STRING, decoded, strlen(decoded));
    return text_node(j, BS_NODE_STRING, j->text + j->place->at + 1, j->place->len);
}

/* As it was written: cJSON has a double or, of the longer ones, a string. */
static struct bs_node *number_node(struct joiner *j) {
    size_t start = j->place->at;
    size_t end = start;
    bool integer = true;
    while (end < j->len && strchr("+-.0123456789eE", j->text[end]) != NULL) {
        integer = integer && strchr(".eE", j->text[end]) == NULL;
        end++;
    }
    struct bs_node *node = next_node(j, integer ? BS_NODE_INTEGER : BS_NODE_REAL);
    node->text = j->text + start;
    node->len = (uint32_t)(end - start);
    return node;
}

static struct bs_node *join(struct joiner *j, const cJSON *item);

static struct bs_node *container(struct joiner *j, const cJSON *item) {
    bool object = cJSON_IsObject(item);
    struct bs_node *node = next_node(j, object ? BS_NODE_MAP : BS_NODE_LIST);
    struct bs_node **link = &node->first;
    for (const cJSON *child = item->child; child != NULL; child = child->next) {
        if (object) {
            *link = string_node(j, child->string);
            link = &(*link)->next;
        }
        *link = join(j, child);
        link = &(*link)->next;
        node->len++;
    }
    return node;
}

static struct bs_node *join(struct joiner *j, const cJSON *item) {
    switch (j->text[j->place->at]) {
    case '{':
    case '[':
        return container(j, item);
    case '"':
        return string_node(j, item->valuestring);
    case 't':
        return text_node(j, BS_NODE_BOOLEAN, "true", 4);
    case 'f':
        return text_node(j, BS_NODE_BOOLEAN, "false", 5);
    case 'n':
        return text_node(j, BS_NODE_NULL, "null", 4);
    default:
        return number_node(j);
    }
}

static int parse(struct bs_json_text *json, struct bs_document *document) {
    bool copied = json->marked.len > 0;
    document->json = cJSON_ParseWithLength(copied ? json->marked.data : json->text,
                                           copied ? json->marked.len : json->len);
    document->arena = document->json != NULL ? bs_arena_new() : NULL;
    if (document->arena == NULL)
        return BS_E_EXECUTION;
    struct joiner j = {json->text, json->len, json->places, NULL};
    j.room = bs_arena_take(document->arena, json->n_places * sizeof *j.room);
    if (j.room == NULL)
        return BS_E_EXECUTION;
    document->root = join(&j, document->json);
    return BS_OK;
}

static int refuse(const struct bs_json_text *json, struct bs_flaw *flaw) {
    if (json->problem == BS_JSON_NO_MEMORY)
        return BS_E_EXECUTION;
    struct bs_position where = bs_position_of(json->text, json->at);
    flaw->line = where.line;
    flaw->column = where.column;
    (void)snprintf(flaw->message, sizeof flaw->message, "%s", json->problem);
    return BS_E_INVALID;
}

int bs_policy_read_json(const char *text, size_t len, struct bs_document *document,
                        struct bs_flaw *flaw) {
    struct bs_json_text json = {
        .text = text, .len = len, .wants_places = true, .refuses_nul = true, .marked = BS_BUF_INIT};
    int code = bs_json_recognise(&json) ? parse(&json, document) : refuse(&json, flaw);
    bs_json_text_clear(&json);
    if (code != BS_OK)
        bs_document_clear(document);
    return code;
}
