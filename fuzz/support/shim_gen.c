#include "support/shim_gen.h"

#include <string.h>

#include "base/json.h"
#include "support/eval_case.h"
#include "support/glob_gen.h"
#include "support/path_model.h"

struct maker {
    struct bs_fuzz_provider *from;
    struct bs_fuzz_shim_requests *requests;
    struct bs_fuzz_pool *pool;
    struct bs_fuzz_shim_request *request; /* that is being made */
};

/* False: the batch is full. */
static bool begin(struct maker *m, const char *op) {
    if (m->requests->n == BS_SHIM_MOST_REQUESTS)
        return false;
    m->request = &m->requests->items[m->requests->n++];
    *m->request = (struct bs_fuzz_shim_request){.op = op};
    return true;
}

/* Takes the text over. */
static void add(struct maker *m, const char *name, struct bs_buf *json) {
    size_t number = m->request->n_members++;
    m->request->members[number].name = name;
    m->request->members[number].json = bs_fuzz_keep(m->pool, json->data, json->len);
    m->request->members[number].len = json->len;
    bs_buf_clear(json);
}

static void put_bytes(struct bs_buf *out, struct bs_fuzz_text text, bool base64) {
    if (base64)
        bs_json_put_base64(out, text.text, text.len);
    else
        bs_json_put_string(out, text.text, text.len);
}

static void add_bytes(struct maker *m, const char *name, const char *name_b64,
                      struct bs_fuzz_text text) {
    struct bs_buf json = BS_BUF_INIT;
    bool base64 = !bs_model_is_utf8(text.text, text.len);
    put_bytes(&json, text, base64);
    add(m, base64 ? name_b64 : name, &json);
}

static void add_paths(struct maker *m, const struct bs_fuzz_text *paths, size_t n) {
    struct bs_buf json = BS_BUF_INIT;
    bool base64 = false;
    for (size_t i = 0; i < n; i++)
        base64 = base64 || !bs_model_is_utf8(paths[i].text, paths[i].len);
    bs_buf_char(&json, '[');
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            bs_buf_char(&json, ',');
        put_bytes(&json, paths[i], base64);
    }
    bs_buf_char(&json, ']');
    add(m, base64 ? "paths_b64" : "paths", &json);
}

/* Whether a glob like two times two stars matches the root is left open. */
static bool is_root(struct bs_fuzz_text path, struct bs_fuzz_pool *pool) {
    char *normal = bs_fuzz_take(pool, path.len + 1);
    size_t len = 0;
    return bs_model_path(path.text, path.len, normal, &len) == NULL && len == 1 && normal[0] == '.';
}

static bool begins_with_mark(const struct bs_gen_text *glob) {
    size_t at = 0;
    while (at < glob->len && (glob->data[at] == ' ' || glob->data[at] == '\t'))
        at++;
    return at < glob->len && glob->data[at] == '!';
}

static void make_glob(struct maker *m) {
    struct bs_gen_text glob;
    struct bs_fuzz_text paths[BS_GEN_MOST_PATHS];
    size_t n = 0;
    bs_gen_symbols(m->from, &glob);
    for (uint32_t more = 1 + bs_fuzz_below(m->from, BS_GEN_MOST_PATHS); more > 0; more--) {
        struct bs_gen_text path;
        if (bs_fuzz_flag(m->from))
            bs_gen_symbols(m->from, &path);
        else
            bs_gen_path_of(m->from, glob.data, glob.len, &path);
        struct bs_fuzz_text kept = {bs_fuzz_keep(m->pool, path.data, path.len), path.len};
        if (!is_root(kept, m->pool))
            paths[n++] = kept;
    }
    if (begin(m, "path.normalize"))
        add_paths(m, paths, n);
    if (!begins_with_mark(&glob) && begin(m, "glob.match")) {
        add_bytes(m, "pattern", "pattern_b64", (struct bs_fuzz_text){glob.data, glob.len});
        add_paths(m, paths, n);
    }
}

static void put_text(struct bs_buf *out, struct bs_policy_text *text) {
    bs_json_put_string(out, text->data, text->len);
    bs_buf_str(out,
               text->format == BS_POLICY_JSON ? ",\"format\":\"json\"" : ",\"format\":\"yaml\"");
    bs_fuzz_text_free(text);
}

static void add_policy(struct maker *m, const struct bs_eval_case *input) {
    struct bs_policy_text global;
    struct bs_policy_text workspace;
    struct bs_buf json = BS_BUF_INIT;
    bs_eval_case_write(input, &global, &workspace);
    bs_buf_str(&json, "{\"text\":");
    put_text(&json, &global);
    if (input->workspace != NULL) {
        bs_buf_str(&json, ",\"workspace\":{\"text\":");
        put_text(&json, &workspace);
        bs_buf_char(&json, '}');
    }
    bs_buf_char(&json, '}');
    add(m, "policy", &json);
}

static void put_profile(struct bs_buf *out, const char *profile) {
    if (profile == NULL)
        return;
    bs_buf_str(out, ",\"profile\":");
    bs_json_put_string(out, profile, strlen(profile));
}

static void add_checks(struct maker *m, const struct bs_eval_case *input) {
    struct bs_buf json = BS_BUF_INIT;
    bs_buf_char(&json, '[');
    for (size_t i = 0; i < 2 * input->n_paths; i++) {
        struct bs_fuzz_text path = input->paths[i / 2];
        if (is_root(path, m->pool))
            continue;
        bs_buf_str(&json, json.len > 1 ? ",{\"op\":" : "{\"op\":");
        bs_buf_str(&json, i % 2 == 0 ? "\"read\",\"path\":" : "\"modify\",\"path\":");
        bs_json_put_string(&json, path.text, path.len);
        put_profile(&json, input->profile);
        bs_buf_char(&json, '}');
    }
    bs_buf_char(&json, ']');
    add(m, "checks", &json);
}

/* The members of a policy stand in the request itself. */
static void add_load(struct maker *m, const struct bs_eval_case *input) {
    struct bs_policy_text global;
    struct bs_policy_text workspace;
    struct bs_buf json = BS_BUF_INIT;
    bs_eval_case_write(input, &global, &workspace);
    bs_json_put_string(&json, global.data, global.len);
    add(m, "text", &json);
    bs_buf_str(&json, global.format == BS_POLICY_JSON ? "\"json\"" : "\"yaml\"");
    add(m, "format", &json);
    bs_fuzz_text_free(&global);
    if (input->workspace != NULL) {
        bs_buf_str(&json, "{\"text\":");
        put_text(&json, &workspace);
        bs_buf_char(&json, '}');
        add(m, "workspace", &json);
    }
}

static void make_policy(struct maker *m) {
    static struct bs_fuzz_pool pool; /* of one request after the other */
    struct bs_eval_case input = {.pool = pool};
    bs_eval_case_read(&input, m->from->data, m->from->left);
    *m->from = input.from;
    if (begin(m, "policy.load"))
        add_load(m, &input);
    if (begin(m, "policy.resolve")) {
        add_policy(m, &input);
        if (input.profile != NULL) {
            struct bs_buf json = BS_BUF_INIT;
            bs_json_put_string(&json, input.profile, strlen(input.profile));
            add(m, "profile", &json);
        }
    }
    static const char *const ops[] = {"policy.check", "policy.explain"};
    for (size_t i = 0; i < 2 && begin(m, ops[i]); i++) {
        add_policy(m, &input);
        add_checks(m, &input);
    }
    bs_eval_case_clear(&input);
    pool = input.pool;
}

/* Bytes that go on where the input ends, by splitmix64. */
static void fill(uint8_t *bytes, size_t size, uint64_t *state) {
    for (size_t i = 0; i < size; i++) {
        uint64_t mixed = *state += UINT64_C(0x9E3779B97F4A7C15);
        mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
        bytes[i] = (uint8_t)(mixed >> 56);
    }
}

static uint64_t hash_of(const uint8_t *data, size_t size) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * UINT64_C(1099511628211);
    return hash;
}

void bs_fuzz_shim_requests_read(struct bs_fuzz_shim_requests *requests, const uint8_t *data,
                                size_t size) {
    enum { A_CASE = 256 };
    uint8_t more[A_CASE];
    struct bs_fuzz_provider from = {data, size};
    uint32_t only = bs_fuzz_byte(&from);
    uint64_t state = hash_of(from.data, from.left);
    struct maker m = {&from, requests, &requests->pool, NULL};
    requests->n = 0;
    while (size > 0 && requests->n < BS_SHIM_MOST_REQUESTS) {
        if (from.left == 0) {
            fill(more, sizeof more, &state);
            from = (struct bs_fuzz_provider){more, sizeof more};
        }
        if (bs_fuzz_below(&from, 2) == 0)
            make_glob(&m);
        else
            make_policy(&m);
    }
    bool alone = size > 0 && only >= BS_SHIM_ONE_ALONE;
    requests->from = alone ? only - BS_SHIM_ONE_ALONE : 0;
    requests->end = alone ? requests->from + 1 : requests->n;
}

void bs_fuzz_shim_request_put(struct bs_buf *out, const struct bs_fuzz_shim_request *request,
                              size_t number) {
    bs_buf_str(out, "{\"id\":\"");
    bs_buf_u64(out, number);
    bs_buf_str(out, "\",\"op\":\"");
    bs_buf_str(out, request->op);
    bs_buf_char(out, '"');
    for (size_t i = 0; i < request->n_members; i++) {
        bs_buf_str(out, ",\"");
        bs_buf_str(out, request->members[i].name);
        bs_buf_str(out, "\":");
        bs_buf_add(out, request->members[i].json, request->members[i].len);
    }
    bs_buf_str(out, "}\n");
}
