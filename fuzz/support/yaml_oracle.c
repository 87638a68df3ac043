#include "support/yaml_oracle.h"

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "support/text_oracle.h"

enum { MOST_DEPTH = 64 };

static const struct meaning {
    enum bs_fuzz_kind kind;
    const char *expression;
} meanings[] = {
    {BS_FUZZ_NULL, "^(null|Null|NULL|~|)$"},
    {BS_FUZZ_BOOLEAN, "^(true|True|TRUE|false|False|FALSE)$"},
    {BS_FUZZ_INTEGER, "^([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$"},
    {BS_FUZZ_REAL, "^[-+]?([.][0-9]+|[0-9]+([.][0-9]*)?)([eE][-+]?[0-9]+)?$"},
    {BS_FUZZ_REAL, "^([-+]?([.]inf|[.]Inf|[.]INF)|[.]nan|[.]NaN|[.]NAN)$"},
};

enum { MEANINGS = sizeof meanings / sizeof *meanings };

static enum bs_fuzz_kind plain_kind(const char *text) {
    static regex_t compiled[MEANINGS];
    static bool ready;
    for (size_t i = 0; i < MEANINGS && !ready; i++) {
        if (regcomp(&compiled[i], meanings[i].expression, REG_EXTENDED | REG_NOSUB) != 0)
            abort();
    }
    ready = true;
    for (size_t i = 0; i < MEANINGS; i++) {
        if (regexec(&compiled[i], text, 0, NULL, 0) == 0)
            return meanings[i].kind;
    }
    return BS_FUZZ_STRING;
}

/* True if a file may contain the code point. U+0085, U+2028 and U+2029 are refused, because half of
 * the YAML readers treat them as line breaks. */
static bool is_printable(uint32_t code) {
    if (code == '\t' || code == '\n' || code == '\r')
        return true;
    return code >= 0x20 && !(code >= 0x7F && code < 0xA0) && code != 0xFFFE && code != 0xFFFF &&
           code != 0x2028 && code != 0x2029;
}

static uint32_t code_at(const unsigned char *text, size_t *size) {
    *size = text[0] < 0x80 ? 1 : text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : 4;
    uint32_t code = *size == 1 ? text[0] : text[0] & (0x7FU >> *size);
    for (size_t i = 1; i < *size; i++)
        code = code << 6 | (text[i] & 0x3FU);
    return code;
}

static bool is_all_printable(const char *text, size_t len) {
    size_t size = 0;
    for (size_t at = 0; at < len; at += size) {
        if (!is_printable(code_at((const unsigned char *)text + at, &size)))
            return false;
    }
    return true;
}

struct reader {
    const char *text;
    size_t len;
    struct bs_fuzz_pool *pool;
    struct bs_fuzz_node *root;
    struct bs_fuzz_node *open[MOST_DEPTH];
    struct bs_fuzz_node **link;
    size_t members[MOST_DEPTH]; /* number of names and values so far in each open container */
    size_t depth;
    size_t documents;
    const char *why;
    struct bs_fuzz_place at;
};

/* Return the byte at a mark. The marks of libyaml count code points, not bytes. */
static char byte_at(const struct reader *r, size_t mark) {
    size_t at = 0;
    for (size_t seen = 0; at < r->len; at++) {
        if (((unsigned char)r->text[at] & 0xC0) != 0x80 && seen++ == mark)
            break;
    }
    return at < r->len ? r->text[at] : '\0';
}

static bool in_map(const struct reader *r) {
    return r->depth > 0 && r->open[r->depth - 1]->kind == BS_FUZZ_MAP;
}

static struct bs_fuzz_node *add(struct reader *r, const yaml_event_t *event,
                                enum bs_fuzz_kind kind) {
    struct bs_fuzz_node *node = bs_fuzz_take(r->pool, sizeof *node);
    bool is_name = in_map(r) && r->members[r->depth - 1]++ % 2 == 0;
    node->kind = kind;
    node->place = (struct bs_fuzz_place){(uint32_t)event->start_mark.line + 1,
                                         (uint32_t)event->start_mark.column + 1};
    if (is_name && kind != BS_FUZZ_STRING)
        r->why = "a key that is no string";
    /* A `!` at the start of a scalar is a tag. A missing value has the place of the next value,
     * whose tag is refused in the same way. */
    if (byte_at(r, event->start_mark.index) == '!')
        r->why = "a tag";
    *r->link = node;
    r->link = &node->next;
    return node;
}

static void add_scalar(struct reader *r, const yaml_event_t *event) {
    const char *value = (const char *)event->data.scalar.value;
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    bool is_name = in_map(r) && r->members[r->depth - 1] % 2 == 0;
    struct bs_fuzz_node *node = add(r, event, plain ? plain_kind(value) : BS_FUZZ_STRING);
    node->text = bs_fuzz_keep(r->pool, value, event->data.scalar.length);
    node->len = event->data.scalar.length;
    if (event->data.scalar.tag != NULL)
        r->why = "a tag";
    if (event->data.scalar.anchor != NULL)
        r->why = "an anchor";
    if (strlen(node->text) != node->len)
        r->why = "a NUL";
    if (plain && is_name && strcmp(node->text, "<<") == 0)
        r->why = "a merge key";
}

static void open_container(struct reader *r, const yaml_event_t *event, enum bs_fuzz_kind kind,
                           const yaml_char_t *anchor, const yaml_char_t *tag) {
    struct bs_fuzz_node *node = add(r, event, kind);
    if (anchor != NULL)
        r->why = "an anchor";
    if (tag != NULL)
        r->why = "a tag";
    if (r->depth == MOST_DEPTH) {
        r->why = "too deep";
        return;
    }
    r->members[r->depth] = 0;
    r->open[r->depth++] = node;
    r->link = &node->first;
}

static void close_container(struct reader *r) {
    if (r->depth > 0)
        r->link = &r->open[--r->depth]->next;
}

static void handle_event(struct reader *r, const yaml_event_t *event) {
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (++r->documents > 1)
            r->why = "a second document";
        if (event->data.document_start.tag_directives.start !=
            event->data.document_start.tag_directives.end)
            r->why = "a directive of tags";
        break;
    case YAML_ALIAS_EVENT:
        r->why = "an alias";
        break;
    case YAML_SCALAR_EVENT:
        add_scalar(r, event);
        break;
    case YAML_SEQUENCE_START_EVENT:
        open_container(r, event, BS_FUZZ_LIST, event->data.sequence_start.anchor,
                       event->data.sequence_start.tag);
        break;
    case YAML_MAPPING_START_EVENT:
        open_container(r, event, BS_FUZZ_MAP, event->data.mapping_start.anchor,
                       event->data.mapping_start.tag);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        close_container(r);
        break;
    default:
        break;
    }
}

static void read_events(struct reader *r, yaml_parser_t *parser) {
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(parser, (const unsigned char *)r->text, r->len);
    bool last = false;
    while (!last && r->why == NULL) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) {
            r->why = "not YAML";
            return;
        }
        last = event.type == YAML_STREAM_END_EVENT;
        handle_event(r, &event);
        if (r->why != NULL)
            r->at = (struct bs_fuzz_place){(uint32_t)event.start_mark.line + 1,
                                           (uint32_t)event.start_mark.column + 1};
        yaml_event_delete(&event);
    }
}

void bs_fuzz_yaml_read(const char *text, size_t len, struct bs_fuzz_pool *pool,
                       struct bs_fuzz_yaml *yaml) {
    struct reader r = {.text = text, .len = len, .pool = pool};
    yaml_parser_t parser;
    r.link = &r.root;
    if (bs_fuzz_first_alien(text, len) != SIZE_MAX)
        r.why = "not UTF-8";
    else if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        r.why = "a byte order mark";
    else if (!is_all_printable(text, len))
        r.why = "a control character";
    if (r.why == NULL) {
        if (!yaml_parser_initialize(&parser))
            abort();
        read_events(&r, &parser);
        yaml_parser_delete(&parser);
    }
    if (r.why == NULL && r.root == NULL)
        r.why = "no document";
    *yaml = (struct bs_fuzz_yaml){r.why == NULL ? r.root : NULL, r.why, r.at};
}
