#include "support/policy_text.h"

#include <string.h>

/* Block style needs the current position, because a scalar after a colon or a dash continues the
 * line. */
struct writer {
    struct bs_buf *out;
    struct bs_fuzz_style style;
    const char *line_end;
    unsigned step; /* blanks for each level */
    bool flow;     /* everything from here on is in flow style */
};

/* True if every reader reads the text without quotes as this string, and not as a number, a boolean
 * or null. */
static bool is_plain(const struct bs_fuzz_node *node) {
    static const char first[] = "abdeghijklmpqrsuvwxzABDEGHIJKLMPQRSUVWXZ_";
    static const char others[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./*?!+()~=";
    return node->len > 0 && strchr(first, node->text[0]) != NULL &&
           strspn(node->text, others) == node->len;
}

static bool is_ascii_line(const struct bs_fuzz_node *node) {
    for (size_t i = 0; i < node->len; i++) {
        if (node->text[i] < 0x20 || node->text[i] == 0x7F)
            return false;
    }
    return true;
}

static void put_single(struct bs_buf *out, const struct bs_fuzz_node *node) {
    bs_buf_char(out, '\'');
    for (size_t i = 0; i < node->len; i++) {
        if (node->text[i] == '\'')
            bs_buf_char(out, '\'');
        bs_buf_char(out, node->text[i]);
    }
    bs_buf_char(out, '\'');
}

static void new_line(struct writer *w, unsigned blanks) {
    bs_buf_str(w->out, w->line_end);
    for (unsigned i = 0; i < blanks; i++)
        bs_buf_char(w->out, ' ');
}

/* Write one line as a block scalar that keeps or strips the line end. Returns false if this is not
 * possible for the text. */
static bool put_block(struct writer *w, const struct bs_fuzz_node *node, unsigned blanks) {
    bool ends = node->len > 0 && node->text[node->len - 1] == '\n';
    struct bs_fuzz_node line = {.text = node->text, .len = node->len - ends};
    bool begins_well = line.len > 0 && line.text[0] != ' ' && line.text[0] != '\t';
    if (w->flow || !begins_well || !is_ascii_line(&line))
        return false;
    bs_buf_str(w->out, ends ? "|" : "|-");
    new_line(w, blanks + w->step);
    bs_buf_add(w->out, line.text, line.len);
    return true;
}

static void put_string(struct writer *w, const struct bs_fuzz_node *node, unsigned blanks,
                       bool is_key) {
    uint32_t way = bs_fuzz_choose(&w->style, 4);
    if (way <= 1 && is_plain(node))
        bs_buf_add(w->out, node->text, node->len);
    else if (way == 2 && is_ascii_line(node))
        put_single(w->out, node);
    else if (way != 3 || is_key || !put_block(w, node, blanks))
        bs_fuzz_put_quoted(w->out, node, &w->style);
}

static void put_node(struct writer *w, const struct bs_fuzz_node *node, unsigned blanks);

static void put_flow(struct writer *w, const struct bs_fuzz_node *node, unsigned blanks) {
    bool map = node->kind == BS_FUZZ_MAP;
    bool was_flow = w->flow;
    size_t n = 0;
    w->flow = true;
    bs_buf_char(w->out, map ? '{' : '[');
    for (const struct bs_fuzz_node *child = node->first; child != NULL; child = child->next, n++) {
        if (n > 0)
            bs_buf_str(w->out, map && n % 2 == 1 ? ": " : ", ");
        if (map && n % 2 == 0)
            put_string(w, child, blanks, true);
        else
            put_node(w, child, blanks);
    }
    bs_buf_char(w->out, map ? '}' : ']');
    w->flow = was_flow;
}

static void put_list(struct writer *w, const struct bs_fuzz_node *node, unsigned blanks) {
    for (const struct bs_fuzz_node *item = node->first; item != NULL; item = item->next) {
        new_line(w, blanks);
        bs_buf_str(w->out, "-");
        put_node(w, item, blanks);
    }
}

static void put_map(struct writer *w, const struct bs_fuzz_node *node, unsigned blanks) {
    for (const struct bs_fuzz_node *key = node->first; key != NULL; key = key->next->next) {
        if (bs_fuzz_choose(&w->style, 16) == 1) {
            new_line(w, blanks);
            bs_buf_str(w->out, "# a comment: \"not\" [a value");
        }
        new_line(w, blanks);
        put_string(w, key, blanks, true);
        bs_buf_char(w->out, ':');
        put_node(w, key->next, blanks);
    }
}

static void put_node(struct writer *w, const struct bs_fuzz_node *node, unsigned blanks) {
    bool map = node->kind == BS_FUZZ_MAP;
    bool container = map || node->kind == BS_FUZZ_LIST;
    bool flow = w->flow || node->first == NULL || bs_fuzz_choose(&w->style, 4) == 1;
    if (container && !flow) {
        (map ? put_map : put_list)(w, node, blanks + w->step);
        return;
    }
    if (!w->flow)
        bs_buf_char(w->out, ' ');
    if (container)
        put_flow(w, node, blanks);
    else if (node->kind == BS_FUZZ_STRING)
        put_string(w, node, blanks, false);
    else
        bs_buf_add(w->out, node->text, node->len);
}

void bs_fuzz_put_yaml(struct bs_buf *out, const struct bs_fuzz_node *root,
                      struct bs_fuzz_style style) {
    static const char *const line_ends[] = {"\n", "\n", "\r\n", "\r"};
    static const char *const heads[] = {"", "", "---", "%YAML 1.2\n---", "# a policy\n", "\n"};
    struct writer w = {.out = out, .style = style};
    w.line_end = line_ends[bs_fuzz_choose(&w.style, 4)];
    w.step = 2 + bs_fuzz_choose(&w.style, 3);
    bs_buf_str(out, heads[bs_fuzz_choose(&w.style, 6)]);
    if (root->kind == BS_FUZZ_MAP && root->first != NULL)
        put_map(&w, root, 0);
    else
        put_node(&w, root, 0);
    bs_buf_str(out, w.line_end);
    if (bs_fuzz_choose(&w.style, 8) == 1)
        bs_buf_str(out, "...\n");
}
