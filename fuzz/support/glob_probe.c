#include "support/glob_probe.h"

#include <string.h>

#include "support/path_model.h"

/* The replacements for one piece of a glob: first the plain one, then the variants. */
struct piece {
    size_t len; /* of the piece in the glob */
    const char *texts[3];
};

static size_t stars_at(const char *glob, size_t len) {
    size_t n = 0;
    while (n < len && glob[n] == '*')
        n++;
    return n;
}

static struct piece piece_at(const char *glob, size_t len, size_t at) {
    const char *text = glob + at;
    size_t left = len - at;
    size_t stars = stars_at(text, left);
    bool starts = at == 0 || text[-1] == '/';
    if (*text == '/' && left > 2 && stars_at(text + 1, left - 1) == left - 1)
        return (struct piece){left, {"/d", "", "/d/e"}};
    if (stars >= 2 && starts && stars < left && text[stars] == '/')
        return (struct piece){stars + 1, {"", "d/e/", "d"}};
    if (stars >= 2)
        return (struct piece){stars, {"d", "d/e", ""}};
    if (stars == 1)
        return (struct piece){1, {"s", "s/t", ""}};
    if (*text == '?')
        return (struct piece){1, {"q", "/", "qr"}};
    if (strchr(".[](){}+^$|\\!", *text) != NULL)
        return (struct piece){1, {NULL, "x", ""}};
    return (struct piece){1, {NULL, NULL, NULL}};
}

static char *append(char *to, const char *text, size_t len) {
    memcpy(to, text, len);
    return to + len;
}

/* Write the glob with the piece number `changed` replaced by its variant. A piece without
 * replacements keeps the text of the glob. */
static size_t put_variant(const char *glob, size_t len, size_t changed, size_t variant, char *to) {
    char *start = to;
    for (size_t at = 0; at < len;) {
        struct piece piece = piece_at(glob, len, at);
        const char *text = piece.texts[at == changed ? variant : 0];
        size_t n = text != NULL ? strlen(text) : 1;
        to = append(to, text != NULL ? text : glob + at, n);
        at += piece.len;
    }
    return (size_t)(to - start);
}

struct probes {
    struct bs_fuzz_pool *pool;
    struct bs_fuzz_text *items;
    size_t n;
};

static void add(struct probes *probes, const char *front, const char *text, size_t len,
                const char *back) {
    size_t n_front = strlen(front);
    size_t n_back = strlen(back);
    size_t all = n_front + len + n_back;
    char *path = bs_fuzz_take(probes->pool, all + 1);
    char *normal = bs_fuzz_take(probes->pool, all + 1);
    size_t normal_len = 0;
    char *end = append(append(path, front, n_front), text, len);
    (void)append(end, back, n_back);
    if (probes->n < BS_PROBES_MOST && bs_model_path(path, all, normal, &normal_len) == NULL)
        probes->items[probes->n++] = (struct bs_fuzz_text){normal, normal_len};
}

size_t bs_fuzz_probes(const char *glob, size_t len, struct bs_fuzz_pool *pool,
                      struct bs_fuzz_text probes[BS_PROBES_MOST]) {
    static const char *const around[][2] = {{"", ""}, {"", "x"}, {"x", ""}, {"", "/x"}, {"x/", ""}};
    struct probes made = {pool, probes, 0};
    char *path = bs_fuzz_take(pool, 4 * len + 1);
    size_t n = put_variant(glob, len, len, 0, path);
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        add(&made, around[i][0], path, n, around[i][1]);
    for (size_t at = 0; at < len && made.n < BS_PROBES_MOST;) {
        struct piece piece = piece_at(glob, len, at);
        for (size_t variant = 1; variant < 3 && piece.texts[variant] != NULL; variant++) {
            n = put_variant(glob, len, at, variant, path);
            add(&made, "", path, n, "");
        }
        at += piece.len;
    }
    return made.n;
}
