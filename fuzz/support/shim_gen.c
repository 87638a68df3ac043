#include "support/shim_gen.h"

#include <string.h>

#include "base/json.h"
#include "support/eval_case.h"
#include "support/glob_gen.h"
#include "support/load_case.h"
#include "support/path_model.h"

struct maker {
    struct bs_fuzz_provider *from;
    struct bs_fuzz_shim_requests *requests;
    struct bs_fuzz_pool *pool;
    struct bs_fuzz_shim_request *request; /* the current request */
};

/* Start a request. Returns false if the batch is full. */
static bool begin(struct maker *m, const char *op) {
    if (m->requests->n == BS_SHIM_MOST_REQUESTS)
        return false;
    m->request = &m->requests->items[m->requests->n++];
    *m->request = (struct bs_fuzz_shim_request){.op = op};
    return true;
}

/* Add a member to the request. The request owns the text from then on. */
static void add(struct maker *m, const char *name, struct bs_buf *json) {
    size_t number = m->request->n_members++;
    m->request->members[number].name = name;
    m->request->members[number].json = bs_fuzz_keep(m->pool, json->data, json->len);
    m->request->members[number].len = json->len;
    bs_buf_clear(json);
}

static void put_bytes(struct bs_buf *out, struct bs_fuzz_text text, bool base64) {
    if (base64)
        bs_json_quote_base64(out, text.text, text.len);
    else
        bs_json_quote(out, text.text, text.len);
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

/* True for the root path. The contract leaves open whether a glob of two `**` matches it. */
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
    bs_json_quote(out, text->data, text->len);
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
    bs_json_quote(out, profile, strlen(profile));
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
        bs_json_quote(&json, path.text, path.len);
        put_profile(&json, input->profile);
        bs_buf_char(&json, '}');
    }
    bs_buf_char(&json, ']');
    add(m, "checks", &json);
}

/* Add the members of the policy to the request itself, as policy.load needs them. */
static void add_load(struct maker *m, const struct bs_eval_case *input) {
    struct bs_policy_text global;
    struct bs_policy_text workspace;
    struct bs_buf json = BS_BUF_INIT;
    bs_eval_case_write(input, &global, &workspace);
    bs_json_quote(&json, global.data, global.len);
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
    static struct bs_fuzz_pool pool; /* reused for each request */
    struct bs_eval_case input = {.pool = pool};
    bs_eval_case_read(&input, m->from->data, m->from->left);
    *m->from = input.from;
    if (begin(m, "policy.load"))
        add_load(m, &input);
    if (begin(m, "policy.resolve")) {
        add_policy(m, &input);
        if (input.profile != NULL) {
            struct bs_buf json = BS_BUF_INIT;
            bs_json_quote(&json, input.profile, strlen(input.profile));
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

static uint64_t mix(uint64_t state) {
    state = (state ^ state >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    state = (state ^ state >> 27) * UINT64_C(0x94D049BB133111EB);
    return state ^ state >> 31;
}

enum { GROWN = 300, GROWN_FROM = BS_SHIM_MOST_REQUESTS - 4 };

/* Apply change `number` to a text. The first changes cut off the last bytes one by one. Then the
 * text is cut anywhere; then a byte is dropped, replaced, doubled or inserted. The last changes
 * repeat a byte 300 times, which gives nesting, digits and strings that are too long for a counter
 * of one byte. The number selects the change regardless of the text, so a shorter text gets the
 * same changes. Writes at most len + GROWN bytes to `to`. */
static size_t change(size_t number, const char *text, size_t len, char *to) {
    enum { CUTS_AT_THE_END = 12, CUTS = 32 };
    static const char bytes[] = "{}[]\",:\\/0-9.eEtfnu!*?#&- \t\r\n\x01\x7f\x80\xc3\xed\xf4\xff";
    if (number < CUTS) {
        size_t cut = number <= CUTS_AT_THE_END
                         ? len - (number < len ? number : len)
                         : len * (number - CUTS_AT_THE_END) / (CUTS - CUTS_AT_THE_END);
        memcpy(to, text, cut);
        return cut;
    }
    uint64_t drawn = mix(number);
    size_t at = (size_t)(drawn >> 16) % len;
    /* number of bytes of the text that are replaced or removed */
    size_t taken = drawn % 4 == 3 ? 0 : 1;
    size_t put = drawn % 4 == 0 ? 0 : 1;
    memcpy(to, text, at);
    if (number >= GROWN_FROM) {
        memset(to + at, text[at], GROWN);
        memcpy(to + at + GROWN, text + at + 1, len - at - 1);
        return len + GROWN - 1;
    }
    to[at] = drawn % 4 == 2 ? text[at] : bytes[(drawn >> 8) % sizeof bytes];
    if (drawn % 4 == 2)
        taken = 0;
    memcpy(to + at + put, text + at + taken, len - at - taken);
    return len + put - taken;
}

static enum bs_policy_format format_by(bool yaml) { return yaml ? BS_POLICY_YAML : BS_POLICY_JSON; }

static void put_file(struct bs_buf *out, struct bs_fuzz_text text, enum bs_policy_format format) {
    bool base64 = !bs_model_is_utf8(text.text, text.len);
    bs_buf_str(out, base64 ? "{\"text_b64\":" : "{\"text\":");
    put_bytes(out, text, base64);
    bs_buf_str(out, format == BS_POLICY_JSON ? ",\"format\":\"json\"}" : ",\"format\":\"yaml\"}");
}

static bool is_broken(struct bs_fuzz_text text, enum bs_policy_format format,
                      struct bs_fuzz_pool *pool) {
    struct bs_fuzz_read read;
    bs_fuzz_read_text((struct bs_policy_text){text.text, text.len, format}, pool, &read);
    /* A file without content counts as malformed, because the contract does not define how it is
     * read. */
    return read.root == NULL || (read.root->kind == BS_FUZZ_NULL && read.root->len == 0);
}

/* True if a YAML file has a directive. Some readers refuse unknown directives and others skip them,
 * so answers about such files would differ without a fault. */
static bool has_directive(struct bs_fuzz_text text, enum bs_policy_format format) {
    for (size_t i = 0; i < text.len && format == BS_POLICY_YAML; i++) {
        if (text.text[i] == '%' && (i == 0 || text.text[i - 1] == '\n' || text.text[i - 1] == '\r'))
            return true;
    }
    return false;
}

/* Load the files of the input unchanged, then changed, until the batch is full. */
static void make_texts(struct maker *m, unsigned marks) {
    enum bs_policy_format format = format_by((marks & 1) != 0);
    enum bs_policy_format other = format_by((marks & 4) != 0);
    const char *all = (const char *)m->from->data;
    size_t len = m->from->left;
    const char *end = (marks & 2) != 0 && len > 0 ? memchr(all, 0xFF, len) : NULL;
    struct bs_fuzz_text global = {all, end != NULL ? (size_t)(end - all) : len};
    struct bs_fuzz_text workspace = {"", 0};
    if (end != NULL)
        workspace = (struct bs_fuzz_text){end + 1, len - global.len - 1};
    struct bs_fuzz_text *changed = end != NULL ? &workspace : &global;
    const struct bs_fuzz_text whole = *changed;
    m->from->left = 0;
    char *to = bs_fuzz_take(m->pool, whole.len + GROWN);
    for (size_t number = 0; number < BS_SHIM_MOST_REQUESTS; number++) {
        if (whole.len > 0)
            *changed = (struct bs_fuzz_text){to, change(number, whole.text, whole.len, to)};
        /* Skip changed files that have a directive. An unchanged file was chosen on purpose and is
         * kept. */
        if (number > 0 && (has_directive(global, format) || has_directive(workspace, other)))
            continue;
        (void)begin(m, "policy.load");
        struct bs_buf json = BS_BUF_INIT;
        add_bytes(m, "text", "text_b64", global);
        bs_buf_str(&json, format == BS_POLICY_JSON ? "\"json\"" : "\"yaml\"");
        add(m, "format", &json);
        m->request->is_broken = is_broken(global, format, m->pool);
        if (end == NULL)
            continue;
        put_file(&json, workspace, other);
        add(m, "workspace", &json);
        m->request->is_broken = m->request->is_broken || is_broken(workspace, other, m->pool);
    }
}

/* Make bytes that continue a used-up input, by splitmix64. */
static void fill(uint8_t *bytes, size_t size, uint64_t *state) {
    for (size_t i = 0; i < size; i++) {
        *state += UINT64_C(0x9E3779B97F4A7C15);
        bytes[i] = (uint8_t)(mix(*state) >> 56);
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
    if (from.left > 0 && from.data[0] >= BS_SHIM_TEXTS)
        make_texts(&m, bs_fuzz_byte(&from));
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
