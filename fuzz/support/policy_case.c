#include "support/policy_case.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "support/fail.h"
#include "support/lie.h"

struct bs_policy_text bs_fuzz_write(const struct bs_fuzz_node *root, enum bs_policy_format format,
                                    struct bs_fuzz_style style) {
    struct bs_buf out = BS_BUF_INIT;
    if (format == BS_POLICY_JSON)
        bs_fuzz_put_json(&out, root, style);
    else
        bs_fuzz_put_yaml(&out, root, style);
    if (out.failed)
        abort();
    struct bs_policy_text text = {bs_fuzz_block(out.data, out.len), out.len, format};
    bs_buf_clear(&out);
    return text;
}

void bs_fuzz_text_free(struct bs_policy_text *text) {
    free((void *)(uintptr_t)text->data);
    *text = (struct bs_policy_text){NULL, 0, BS_POLICY_JSON};
}

void bs_fuzz_load_written(const struct bs_policy_text *global,
                          const struct bs_policy_text *workspace, struct bs_fuzz_pool *pool,
                          struct bs_fuzz_load *load, struct bs_fuzz_verdict *verdict) {
    struct bs_fuzz_read reads[2];
    bs_fuzz_load(global, workspace, load);
    bs_fuzz_read_text(*global, pool, &reads[0]);
    reads[1] = reads[0];
    if (workspace != NULL)
        bs_fuzz_read_text(*workspace, pool, &reads[1]);
    if (reads[0].root == NULL || reads[1].root == NULL || bs_fuzz_lie("written"))
        bs_fuzz_fail("written", "not well-formed: %s", load->err.message);
    (void)bs_fuzz_judge_load(load, &reads[0], workspace != NULL ? &reads[1] : NULL, pool, verdict);
}

static const char *format_of(const struct bs_policy_text *text) {
    return text->format == BS_POLICY_JSON ? "json" : "yaml";
}

static void put_object(struct bs_buf *out, const struct bs_policy_text *text,
                       const struct bs_policy_text *workspace) {
    bs_buf_str(out, "{\"text\":");
    bs_json_quote(out, text->data, text->len);
    bs_buf_str(out, ",\"format\":\"");
    bs_buf_str(out, format_of(text));
    bs_buf_char(out, '"');
    if (workspace != NULL) {
        bs_buf_str(out, ",\"workspace\":");
        put_object(out, workspace, NULL);
    }
    bs_buf_char(out, '}');
}

static void put_member(struct bs_fuzz_case *c, const char *name,
                       const struct bs_policy_text *global,
                       const struct bs_policy_text *workspace) {
    struct bs_buf json = BS_BUF_INIT;
    put_object(&json, global, workspace);
    bs_fuzz_case_json(c, name, json.data, json.len);
    bs_buf_clear(&json);
}

void bs_fuzz_case_texts(struct bs_fuzz_case *c, const struct bs_policy_text *global,
                        const struct bs_policy_text *workspace) {
    bs_fuzz_case_text(c, "text", global->data, global->len);
    bs_fuzz_case_word(c, "format", format_of(global));
    if (workspace != NULL)
        put_member(c, "workspace", workspace, NULL);
}

void bs_fuzz_case_policy(struct bs_fuzz_case *c, const struct bs_policy_text *global,
                         const struct bs_policy_text *workspace) {
    put_member(c, "policy", global, workspace);
}

struct bs_fuzz_node *bs_fuzz_member(struct bs_fuzz_node *map, const char *name) {
    struct bs_fuzz_node *key = map != NULL && map->kind == BS_FUZZ_MAP ? map->first : NULL;
    while (key != NULL && strcmp(key->text, name) != 0)
        key = key->next->next;
    return key != NULL ? key->next : NULL;
}

static bool same_text(const char *a, const char *b) {
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_rules(const struct bs_fuzz_rules *a, const struct bs_fuzz_rules *b) {
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        if (!bs_fuzz_rule_equals(&a->items[i], &b->items[i]) ||
            a->items[i].negated != b->items[i].negated)
            return false;
    }
    return true;
}

static bool same_pairs(const struct bs_fuzz_pairs *a, const struct bs_fuzz_pairs *b) {
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        if (!same_text(a->items[i].name, b->items[i].name) ||
            !same_text(a->items[i].value, b->items[i].value))
            return false;
    }
    return true;
}

static bool same_profiles(const struct bs_fuzz_policy *a, const struct bs_fuzz_policy *b) {
    if (a->n_profiles != b->n_profiles)
        return false;
    for (size_t i = 0; i < a->n_profiles; i++) {
        const struct bs_fuzz_profile *x = &a->profiles[i];
        const struct bs_fuzz_profile *y = &b->profiles[i];
        if (!same_text(x->name, y->name) || !same_rules(&x->read, &y->read) ||
            !same_rules(&x->modify, &y->modify))
            return false;
    }
    return true;
}

bool bs_fuzz_same_policy(const struct bs_fuzz_policy *a, const struct bs_fuzz_policy *b) {
    return same_text(a->name, b->name) && same_text(a->description, b->description) &&
           same_pairs(&a->labels, &b->labels) && same_pairs(&a->annotations, &b->annotations) &&
           same_rules(&a->deny_read, &b->deny_read) &&
           same_rules(&a->deny_modify, &b->deny_modify) && same_profiles(a, b);
}
