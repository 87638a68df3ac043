/* Parses YAML into a tree, from the events of libyaml. */
#include "policy/file/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxspec/error.h>
#include <boxspec/policy.h>
#include <yaml.h>

#include "base/arena.h"
#include "base/position.h"
#include "policy/file/yaml.h"

/* MOST_NODES is the largest number of values that a JSON file of 4 MiB can have. */
enum { MOST_NODES = 2 * 1024 * 1024, NODES_AT_ONCE = 64 };

struct level {
    struct bs_node *node;
    struct bs_node **link; /* the pointer to set for the next child */
    bool wants_key;
};

struct builder {
    const char *text;
    size_t len;
    struct bs_yaml_scan scan;
    size_t at;      /* byte offset of the character that is number at_mark */
    size_t at_mark; /* marks of libyaml count characters, not bytes */
    /* at the end of the last scalar: its offset in bytes minus its offset in characters, guessed */
    size_t ahead;
    struct bs_document *document;
    struct bs_flaw *flaw;
    struct level levels[BS_POLICY_MOST_DEPTH];
    size_t depth;
    size_t n_nodes;
    struct bs_node *spare;
    size_t n_spare;
};

/* Report a problem at a mark. If the last line has no line feed, libyaml reports the end of the
 * text on the line after it, so the position is corrected to the real end. */
static int refuse(struct builder *b, yaml_mark_t mark, const char *message) {
    struct bs_position where = {(uint32_t)mark.line + 1, (uint32_t)mark.column + 1};
    struct bs_position end = bs_position_of(b->text, b->len);
    if (where.line > end.line)
        where = end;
    b->flaw->line = where.line;
    b->flaw->column = where.column;
    b->flaw->message = message;
    return BS_E_INVALID;
}

/* Return the byte offset of a mark. Marks must be passed in the order of the text; for a mark
 * before the previous one, the result is the length of the text. */
static size_t offset_of(struct builder *b, yaml_mark_t mark) {
    if (b->scan.is_ascii)
        return mark.index < b->len ? mark.index : b->len;
    while (b->at_mark < mark.index && b->at < b->len) {
        b->at++;
        while (b->at < b->len && ((unsigned char)b->text[b->at] & 0xC0) == 0x80)
            b->at++;
        b->at_mark++;
    }
    return b->at_mark == mark.index ? b->at : b->len;
}

static int refuse_properties(struct builder *b, const yaml_event_t *event,
                             const yaml_char_t *anchor, const yaml_char_t *tag) {
    if (tag != NULL)
        return refuse(b, event->start_mark,
                      "a tag: in YAML an unquoted `!` begins one; quote it: \"!...\"");
    if (anchor != NULL)
        return refuse(b, event->start_mark,
                      "an anchor: in YAML an unquoted `&` begins one; quote it: \"&...\"");
    return BS_OK;
}

static struct bs_node *take_node(struct builder *b) {
    if (b->n_spare == 0) {
        b->spare = bs_arena_take(b->document->arena, NODES_AT_ONCE * sizeof *b->spare);
        b->n_spare = b->spare != NULL ? NODES_AT_ONCE : 0;
    }
    if (b->n_spare == 0)
        return NULL;
    b->n_spare--;
    return b->spare++;
}

/* Add a node. If it cannot be added, return NULL with the reason in *code. */
static struct bs_node *add(struct builder *b, const yaml_event_t *event, enum bs_node_kind kind,
                           int *code) {
    *code = BS_OK;
    if (++b->n_nodes > MOST_NODES) {
        *code = refuse(b, event->start_mark, "more than 2097152 values");
        return NULL;
    }
    struct bs_node *node = take_node(b);
    if (node == NULL) {
        *code = BS_E_EXECUTION;
        return NULL;
    }
    *node = (struct bs_node){.line = (uint32_t)event->start_mark.line + 1,
                             .column = (uint32_t)event->start_mark.column + 1,
                             .kind = kind};
    if (b->depth == 0) {
        b->document->root = node;
        return node;
    }
    struct level *level = &b->levels[b->depth - 1];
    *level->link = node;
    level->link = &node->next;
    if (level->node->kind == BS_NODE_LIST) {
        level->node->len++;
    } else {
        level->node->len += level->wants_key;
        level->wants_key = !level->wants_key;
    }
    return node;
}

static bool is_key(const struct builder *b) {
    return b->depth > 0 && b->levels[b->depth - 1].wants_key;
}

static int refuse_key(struct builder *b, const yaml_event_t *event, enum bs_node_kind kind) {
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && event->data.scalar.length == 2 &&
        memcmp(event->data.scalar.value, "<<", 2) == 0)
        return refuse(b, event->start_mark, "a merge key; quote it if it is meant as a name");
    if (kind != BS_NODE_STRING)
        return refuse(b, event->start_mark, "a key must be a string; quote it");
    return BS_OK;
}

/* Compare a scalar with the text at the index of its mark plus `ahead` bytes. Return a pointer to
 * this text if the bytes are equal, otherwise NULL. */
static const char *stands_at(struct builder *b, const yaml_event_t *event, size_t ahead) {
    bool quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    size_t at = event->start_mark.index + ahead + quoted;
    size_t len = event->data.scalar.length;
    if (at > b->len || b->len - at < len ||
        memcmp(b->text + at, event->data.scalar.value, len) != 0)
        return NULL;
    b->ahead = ahead + len + 2 * (size_t)quoted - (event->end_mark.index - event->start_mark.index);
    return b->text + at;
}

/* Return the scalar as a part of the text if it is in the text unchanged, which saves a copy. Most
 * scalars have no escape, so they are. The byte offset is guessed first, and counted only if the
 * guess was wrong. A wrong guess is harmless, because the bytes are compared. */
static const char *verbatim(struct builder *b, const yaml_event_t *event) {
    const char *text = stands_at(b, event, b->ahead);
    if (text == NULL && !b->scan.is_ascii)
        text = stands_at(b, event, offset_of(b, event->start_mark) - event->start_mark.index);
    return text;
}

static int scalar(struct builder *b, const yaml_event_t *event) {
    const char *value = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;
    int code = refuse_properties(b, event, event->data.scalar.anchor, event->data.scalar.tag);
    if (code != BS_OK)
        return code;
    const char *text = verbatim(b, event);
    if (text == NULL && memchr(value, '\0', len) != NULL)
        return refuse(b, event->start_mark, "a NUL in a string");
    enum bs_node_kind kind = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE
                                 ? bs_plain_scalar_kind(value, len)
                                 : BS_NODE_STRING;
    if (is_key(b))
        code = refuse_key(b, event, kind);
    struct bs_node *node = code == BS_OK ? add(b, event, kind, &code) : NULL;
    if (node == NULL)
        return code;
    node->len = (uint32_t)len;
    node->text = text != NULL ? text : bs_arena_text(b->document->arena, value, len);
    return node->text != NULL ? BS_OK : BS_E_EXECUTION;
}

static int enter(struct builder *b, const yaml_event_t *event, enum bs_node_kind kind) {
    bool list = kind == BS_NODE_LIST;
    int code = refuse_properties(
        b, event, list ? event->data.sequence_start.anchor : event->data.mapping_start.anchor,
        list ? event->data.sequence_start.tag : event->data.mapping_start.tag);
    if (code != BS_OK)
        return code;
    if (is_key(b))
        return refuse(b, event->start_mark, "a key must be a string, not a list or a mapping");
    if (b->depth == BS_POLICY_MOST_DEPTH)
        return refuse(b, event->start_mark, "nested too deeply (64 levels at most)");
    struct bs_node *node = add(b, event, kind, &code);
    if (node != NULL)
        b->levels[b->depth++] = (struct level){node, &node->first, !list};
    return code;
}

static int open_document(struct builder *b, const yaml_event_t *event) {
    if (b->document->root != NULL)
        return refuse(b, event->start_mark, "a second document; a policy is one document");
    if (event->data.document_start.tag_directives.start !=
        event->data.document_start.tag_directives.end)
        return refuse(b, event->start_mark, "a %TAG directive; a policy has no tags");
    return BS_OK;
}

static int take(struct builder *b, const yaml_event_t *event) {
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return open_document(b, event);
    case YAML_ALIAS_EVENT:
        return refuse(b, event->start_mark,
                      "an alias: in YAML an unquoted `*` begins one; quote it: \"*...\"");
    case YAML_SCALAR_EVENT:
        return scalar(b, event);
    case YAML_SEQUENCE_START_EVENT:
        return enter(b, event, BS_NODE_LIST);
    case YAML_MAPPING_START_EVENT:
        return enter(b, event, BS_NODE_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        b->depth -= b->depth > 0;
        return BS_OK;
    default:
        return b->document->root != NULL || event->type != YAML_STREAM_END_EVENT
                   ? BS_OK
                   : refuse(b, event->start_mark, "there is no document");
    }
}

/* Report an error of libyaml. If a glob was written without quotes, the message gives advice. */
static int refuse_syntax(struct builder *b, const yaml_parser_t *parser) {
    if (parser->error == YAML_MEMORY_ERROR)
        return BS_E_EXECUTION;
    const char *problem = parser->problem != NULL ? parser->problem : "this is not YAML";
    const char *context = parser->context != NULL ? parser->context : "";
    bool sigil = strstr(context, "alias") != NULL || strstr(context, "anchor") != NULL ||
                 strstr(context, "tag") != NULL;
    bool unquoted = sigil || strstr(problem, "cannot start any token") != NULL;
    char *words = b->flaw->words;
    (void)snprintf(words, sizeof b->flaw->words, "%s%s%s%s", problem, context[0] != '\0' ? " " : "",
                   context,
                   unquoted ? "; text that begins with `*`, `&`, `!`, `%`, `@` or a backquote has "
                              "to be quoted: quote it"
                            : "");
    return refuse(b, sigil ? parser->context_mark : parser->problem_mark, words);
}

static int parse(struct builder *b, yaml_parser_t *parser) {
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(parser, (const unsigned char *)b->text, b->len);
    for (;;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event))
            return refuse_syntax(b, parser);
        int code = take(b, &event);
        bool last = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (code != BS_OK || last)
            return code;
    }
}

int bs_policy_read_yaml(const char *text, size_t len, struct bs_document *document,
                        struct bs_flaw *flaw) {
    struct bs_yaml_scan scan = bs_yaml_scan(text, len);
    if (scan.problem != NULL) {
        struct bs_position where = bs_position_of(text, scan.at);
        flaw->line = where.line;
        flaw->column = where.column;
        flaw->message = scan.problem;
        return BS_E_INVALID;
    }
    struct builder b = {.text = text, .len = len, .scan = scan, .document = document, .flaw = flaw};
    yaml_parser_t parser;
    document->arena = bs_arena_new(BS_ARENA_ROOM);
    int code = BS_E_EXECUTION;
    if (document->arena != NULL && yaml_parser_initialize(&parser)) {
        code = parse(&b, &parser);
        yaml_parser_delete(&parser);
    }
    if (code != BS_OK)
        bs_document_clear(document);
    return code;
}
