#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

struct cursor {
    const char *at;
    const char *end;
};

static size_t stars_at(const struct cursor *in) {
    size_t n = 0;
    while (in->at + n < in->end && in->at[n] == '*')
        n++;
    return n;
}

/* True if the cursor is at a whole segment `**`. */
static bool on_any_depth(const struct cursor *in) {
    size_t n = stars_at(in);
    return n >= 2 && (in->at + n == in->end || in->at[n] == '/');
}

/* Skip further `**` segments: several in a row mean the same as one. */
static void skip_any_depth(struct cursor *in) {
    in->at += stars_at(in);
    while (in->at < in->end) {
        struct cursor next = {in->at + 1, in->end};
        if (!on_any_depth(&next))
            return;
        in->at = next.at + stars_at(&next);
    }
}

static void add_character(struct bs_buf *out, char c) {
    if (strchr("\\^$.|()[]{}+-#&~", c) != NULL)
        bs_buf_char(out, '\\');
    bs_buf_char(out, c);
}

static void add_segment(struct bs_buf *out, struct cursor *in) {
    const char *start = in->at;
    while (in->at < in->end && *in->at != '/') {
        size_t n = stars_at(in);
        bool alone = in->at == start && n == 1 && (in->at + 1 == in->end || in->at[1] == '/');
        if (n > 0)
            bs_buf_str(out, n > 1 ? ".*" : alone ? "[^/]+" : "[^/]*");
        else if (*in->at == '?')
            bs_buf_str(out, "[^/]");
        else
            add_character(out, *in->at);
        in->at += n > 0 ? n : 1;
    }
}

char *bench_regex(const char *rule, size_t len) {
    struct bs_buf out = BS_BUF_INIT;
    struct cursor in = {rule, rule + len};
    bool root = len == 1 && rule[0] == '.';
    while (!root && in.at < in.end) {
        if (on_any_depth(&in)) {
            skip_any_depth(&in);
            bs_buf_str(&out, in.at == in.end ? ".*" : "(?:.*/)?");
            in.at += in.at < in.end;
            continue;
        }
        add_segment(&out, &in);
        if (in.at == in.end)
            break;
        in.at++;
        struct cursor rest = in;
        if (on_any_depth(&rest)) {
            skip_any_depth(&rest);
            if (rest.at == rest.end) {
                bs_buf_str(&out, "(?:/.*)?");
                break;
            }
        }
        bs_buf_char(&out, '/');
    }
    bs_buf_char(&out, '\0');
    if (out.failed) {
        bs_buf_clear(&out);
        return NULL;
    }
    return out.data;
}
