/* Reads JSON into a tree. The check of the text (base/json_text.h) has recorded the place of each
 * value, and the tree is built from these places. cJSON only decodes the strings that have escapes:
 * building a tree of cJSON would take longer than all other steps of loading. */
#include "policy/file/parse.h"

#include <string.h>

#include <boxspec/error.h>
#include <cjson/cJSON.h>

#include "base/arena.h"
#include "base/json_text.h"
#include "base/position.h"

/* Memory on the stack that suffices for a small file. FEW_PLACES counts names and values,
 * MOST_DECODED bytes of strings with escapes. */
enum { FEW_PLACES = 32, MOST_DECODED = 512 };

struct builder {
    const char *text;
    const struct bs_json_place *places;
    struct bs_node *nodes; /* one for each place in the text */
    struct bs_arena *arena;
};

/* Decode a string that has escapes. cJSON parses only this string, with its quotes. */
static bool decode(struct builder *b, const struct bs_json_place *place, struct bs_node *node) {
    const char *end = b->text + place->at + 1;
    while (*end != '"')
        end += *end == '\\' ? 2 : 1;
    const char *start = b->text + place->at;
    cJSON *item = cJSON_ParseWithLength(start, (size_t)(end - start) + 1);
    if (item == NULL)
        return false;
    node->len = (uint32_t)strlen(item->valuestring);
    node->text = bs_arena_text(b->arena, item->valuestring, node->len);
    cJSON_Delete(item);
    return node->text != NULL;
}

static bool is_real(const char *text, size_t len) {
    return memchr(text, '.', len) != NULL || memchr(text, 'e', len) != NULL ||
           memchr(text, 'E', len) != NULL;
}

static enum bs_node_kind scalar_kind(const char *text, size_t len) {
    switch (text[0]) {
    case '"':
        return BS_NODE_STRING;
    case 't':
    case 'f':
        return BS_NODE_BOOLEAN;
    case 'n':
        return BS_NODE_NULL;
    default:
        return is_real(text, len) ? BS_NODE_REAL : BS_NODE_INTEGER;
    }
}

static bool build_scalar(struct builder *b, size_t number) {
    const struct bs_json_place *place = &b->places[number];
    const char *text = b->text + place->at;
    struct bs_node *node = &b->nodes[number];
    *node = (struct bs_node){.text = text,
                             .len = place->len,
                             .line = place->line,
                             .column = place->column,
                             .kind = scalar_kind(text, place->len)};
    if (node->kind != BS_NODE_STRING)
        return true;
    if (place->len == BS_JSON_ESCAPED)
        return decode(b, place, node);
    node->text++; /* skip the quote */
    return true;
}

/* Build the node for a place, and the nodes of everything inside it. */
static bool build(struct builder *b, size_t number) {
    const struct bs_json_place *place = &b->places[number];
    char bracket = b->text[place->at];
    if (bracket != '{' && bracket != '[')
        return build_scalar(b, number);
    struct bs_node *node = &b->nodes[number];
    *node = (struct bs_node){.line = place->line,
                             .column = place->column,
                             .kind = bracket == '{' ? BS_NODE_MAP : BS_NODE_LIST};
    struct bs_node **link = &node->first;
    size_t children = 0;
    for (size_t at = number + 1; at <= number + place->len; at++, children++) {
        if (!build(b, at))
            return false;
        *link = &b->nodes[at];
        link = &b->nodes[at].next;
        if (b->nodes[at].kind >= BS_NODE_LIST)
            at += b->places[at].len;
    }
    node->len = (uint32_t)(bracket == '{' ? children / 2 : children);
    return true;
}

static int build_all(const struct bs_json_text *json, struct bs_document *document) {
    /* A decoded string is never longer than its text. */
    size_t decoded = json->len < MOST_DECODED ? json->len : MOST_DECODED;
    size_t size = json->n_places * sizeof(struct bs_node);
    document->arena = bs_arena_new(size + decoded);
    if (document->arena == NULL)
        return BS_E_EXECUTION;
    struct builder b = {json->text, json->places, bs_arena_take(document->arena, size),
                        document->arena};
    if (b.nodes == NULL || !build(&b, 0))
        return BS_E_EXECUTION;
    document->root = b.nodes;
    return BS_OK;
}

static int refuse(const struct bs_json_text *json, struct bs_flaw *flaw) {
    if (json->problem == BS_JSON_NO_MEMORY)
        return BS_E_EXECUTION;
    struct bs_position where = bs_position_of(json->text, json->at);
    flaw->line = where.line;
    flaw->column = where.column;
    flaw->message = json->problem;
    return BS_E_INVALID;
}

int bs_policy_read_json(const char *text, size_t len, struct bs_document *document,
                        struct bs_flaw *flaw) {
    struct bs_json_place few[FEW_PLACES];
    struct bs_json_text json = {.text = text,
                                .len = len,
                                .wants_places = true,
                                .refuses_nul = true,
                                .lent = few,
                                .n_lent = FEW_PLACES,
                                .rewritten = BS_BUF_INIT};
    int code = bs_json_check(&json) ? build_all(&json, document) : refuse(&json, flaw);
    bs_json_text_clear(&json);
    if (code != BS_OK)
        bs_document_clear(document);
    return code;
}
