#include "support/request_oracle.h"

#include <string.h>

static bool is_named(const struct bs_fuzz_node *node, const char *name) {
    return node->kind == BS_FUZZ_STRING && node->len == strlen(name) &&
           memcmp(node->text, name, node->len) == 0;
}

const struct bs_fuzz_node *bs_fuzz_field(const struct bs_fuzz_node *object, const char *name) {
    if (object == NULL || object->kind != BS_FUZZ_MAP)
        return NULL;
    const struct bs_fuzz_node *key = object->first;
    while (key != NULL && !is_named(key, name))
        key = key->next->next;
    return key != NULL ? key->next : NULL;
}

bool bs_fuzz_has_repeated(const struct bs_fuzz_node *node) {
    bool map = node->kind == BS_FUZZ_MAP;
    if (!map && node->kind != BS_FUZZ_LIST)
        return false;
    for (const struct bs_fuzz_node *child = node->first; child != NULL; child = child->next) {
        if (map) {
            for (const struct bs_fuzz_node *other = child->next->next; other != NULL;
                 other = other->next->next) {
                if (other->len == child->len && memcmp(other->text, child->text, child->len) == 0)
                    return true;
            }
            child = child->next;
        }
        if (bs_fuzz_has_repeated(child))
            return true;
    }
    return false;
}

struct reading {
    struct bs_fuzz_pool *pool;
    struct bs_fuzz_request *request;
};

static int value_of(char letter) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = letter != '\0' ? strchr(letters, letter) : NULL;
    return found != NULL ? (int)(found - letters) : -1;
}

/* Decode base64 in groups of four letters. Unused bits of the last group must be zero. */
static bool decode_base64(const char *text, size_t len, char *out, size_t *out_len) {
    size_t padding = 0;
    while (padding < 2 && padding < len && text[len - 1 - padding] == '=')
        padding++;
    if (len % 4 != 0)
        return false;
    uint32_t bits = 0;
    size_t n_bits = 0;
    *out_len = 0;
    for (size_t i = 0; i < len - padding; i++) {
        int value = value_of(text[i]);
        if (value < 0)
            return false;
        bits = (bits << 6 | (uint32_t)value) & 0xFFFF;
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            out[(*out_len)++] = (char)(bits >> n_bits & 0xFF);
        }
    }
    return (bits & ((1U << n_bits) - 1)) == 0;
}

static struct bs_fuzz_bytes read_bytes(struct reading *r, const struct bs_fuzz_node *node,
                                       bool base64) {
    struct bs_fuzz_bytes bytes = {NULL, 0};
    if (node->kind != BS_FUZZ_STRING) {
        r->request->refused = true;
        return bytes;
    }
    char *data = bs_fuzz_keep(r->pool, node->text, node->len);
    bytes = (struct bs_fuzz_bytes){data, node->len};
    if (base64 && !decode_base64(node->text, node->len, data, &bytes.len))
        r->request->refused = true;
    return bytes;
}

static struct bs_fuzz_bytes read_system_bytes(struct reading *r, const struct bs_fuzz_node *node,
                                              bool base64) {
    struct bs_fuzz_bytes bytes = read_bytes(r, node, base64);
    if (bytes.len > 0 && memchr(bytes.data, '\0', bytes.len) != NULL)
        r->request->has_nul = true;
    return bytes;
}

/* Return the member with the text or the member with the base64 form, whichever is present. A
 * request that has both is refused. */
static const struct bs_fuzz_node *either_field(struct reading *r, const struct bs_fuzz_node *object,
                                               const char *name, const char *name_b64,
                                               bool *base64) {
    const struct bs_fuzz_node *plain = bs_fuzz_field(object, name);
    const struct bs_fuzz_node *encoded = bs_fuzz_field(object, name_b64);
    *base64 = encoded != NULL;
    if (plain != NULL && encoded != NULL)
        r->request->refused = true;
    return encoded != NULL ? encoded : plain;
}

static void refuse_unknown(struct reading *r, const struct bs_fuzz_node *object,
                           const char *const *names) {
    for (const struct bs_fuzz_node *key = object->first; key != NULL; key = key->next->next) {
        const char *const *name = names;
        while (*name != NULL && !is_named(key, *name))
            name++;
        if (*name == NULL)
            r->request->refused = true;
    }
}

static size_t count(const struct bs_fuzz_node *list) {
    size_t n = 0;
    for (const struct bs_fuzz_node *item = list->first; item != NULL; item = item->next)
        n++;
    return n;
}

static void read_args(struct reading *r, const struct bs_fuzz_node *object) {
    bool base64 = false;
    const struct bs_fuzz_node *list = either_field(r, object, "args", "args_b64", &base64);
    if (list == NULL)
        return;
    if (list->kind != BS_FUZZ_LIST) {
        r->request->refused = true;
        return;
    }
    r->request->args = bs_fuzz_take(r->pool, count(list) * sizeof *r->request->args);
    for (const struct bs_fuzz_node *item = list->first; item != NULL; item = item->next)
        r->request->args[r->request->n_args++] = read_system_bytes(r, item, base64);
}

static void read_env(struct reading *r, const struct bs_fuzz_node *env) {
    static const char *const known[] = {"clear_and_set", "clear_and_set_b64", NULL};
    bool base64 = false;
    if (env == NULL || is_named(env, "inherit"))
        return;
    r->request->sets_env = true;
    if (env->kind != BS_FUZZ_MAP) {
        r->request->refused = true;
        return;
    }
    refuse_unknown(r, env, known);
    const struct bs_fuzz_node *list = either_field(r, env, known[0], known[1], &base64);
    if (list == NULL || list->kind != BS_FUZZ_LIST) {
        r->request->refused = true;
        return;
    }
    r->request->env = bs_fuzz_take(r->pool, 2 * count(list) * sizeof *r->request->env);
    for (const struct bs_fuzz_node *pair = list->first; pair != NULL; pair = pair->next) {
        if (pair->kind != BS_FUZZ_LIST || count(pair) != 2) {
            r->request->refused = true;
            return;
        }
        size_t at = 2 * r->request->n_env++;
        r->request->env[at] = read_system_bytes(r, pair->first, base64);
        r->request->env[at + 1] = read_system_bytes(r, pair->first->next, base64);
    }
}

static void read_stdin(struct reading *r, const struct bs_fuzz_node *node) {
    static const char *const known[] = {"bytes", "bytes_b64", NULL};
    bool base64 = false;
    if (node == NULL || is_named(node, "inherit"))
        return;
    r->request->no_stdin = is_named(node, "null");
    if (r->request->no_stdin)
        return;
    if (node->kind != BS_FUZZ_MAP) {
        r->request->refused = true;
        return;
    }
    refuse_unknown(r, node, known);
    const struct bs_fuzz_node *bytes = either_field(r, node, known[0], known[1], &base64);
    if (bytes == NULL)
        r->request->refused = true;
    else
        r->request->stdin_bytes = read_bytes(r, bytes, base64);
}

static uint64_t read_integer(struct reading *r, const struct bs_fuzz_node *node) {
    if (node == NULL)
        return UINT64_MAX;
    if (node->kind != BS_FUZZ_INTEGER || node->text[0] == '-') {
        r->request->refused = true;
        r->request->doubtful |= node->kind == BS_FUZZ_INTEGER && strcmp(node->text, "-0") == 0;
        return 0;
    }
    static const char most[] = "18446744073709551615";
    size_t len = sizeof most - 1;
    if (node->len > len || (node->len == len && strcmp(node->text, most) > 0)) {
        r->request->refused = true;
        return 0;
    }
    uint64_t value = 0;
    for (const char *digit = node->text; *digit != '\0'; digit++)
        value = value * 10 + (uint64_t)(*digit - '0');
    return value;
}

void bs_fuzz_request_read(const struct bs_fuzz_node *object, struct bs_fuzz_pool *pool,
                          struct bs_fuzz_request *request) {
    static const char *const known[] = {
        "program",          "program_b64",   "args",  "args_b64", "current_dir",
        "current_dir_b64",  "timeout_ms",    "stdin", "env",      "debug",
        "max_output_bytes", "stdin_failure", NULL};
    struct reading r = {pool, request};
    bool base64 = false;
    *request = (struct bs_fuzz_request){.refused = object->kind != BS_FUZZ_MAP};
    if (request->refused)
        return;
    refuse_unknown(&r, object, known);
    const struct bs_fuzz_node *program =
        either_field(&r, object, "program", "program_b64", &base64);
    if (program != NULL)
        request->program = read_system_bytes(&r, program, base64);
    else
        request->refused = true;
    const struct bs_fuzz_node *dir =
        either_field(&r, object, "current_dir", "current_dir_b64", &base64);
    if (dir != NULL)
        request->current_dir = read_system_bytes(&r, dir, base64);
    read_args(&r, object);
    read_env(&r, bs_fuzz_field(object, "env"));
    read_stdin(&r, bs_fuzz_field(object, "stdin"));
    request->timeout_ms = read_integer(&r, bs_fuzz_field(object, "timeout_ms"));
    request->max_output_bytes = read_integer(&r, bs_fuzz_field(object, "max_output_bytes"));
    const struct bs_fuzz_node *debug = bs_fuzz_field(object, "debug");
    request->debug = debug != NULL && debug->text != NULL && strcmp(debug->text, "true") == 0;
    if (debug != NULL && debug->kind != BS_FUZZ_BOOLEAN)
        request->refused = true;
    const struct bs_fuzz_node *failure = bs_fuzz_field(object, "stdin_failure");
    request->ignores_stdin_failure = failure != NULL && is_named(failure, "ignore");
    if (failure != NULL && !is_named(failure, "ignore") && !is_named(failure, "error"))
        request->refused = true;
}
