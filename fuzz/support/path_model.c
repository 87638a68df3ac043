#include "support/path_model.h"

#include <stdint.h>
#include <string.h>

#include <boxspec/glob.h>

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* Return the length of the character at text[0], or 0 if it is not valid UTF-8. */
static size_t character(const unsigned char *text, size_t len) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = text[0] < 0x80   ? 1
                  : text[0] < 0xC0 ? 0
                  : text[0] < 0xE0 ? 2
                  : text[0] < 0xF0 ? 3
                  : text[0] < 0xF8 ? 4
                                   : 0;
    if (size < 2 || size > len)
        return size > len ? 0 : size;
    uint32_t point = text[0] & (0x7FU >> size);
    for (size_t i = 1; i < size; i++) {
        if (text[i] / 0x40 != 2)
            return 0;
        point = point * 0x40 + text[i] % 0x40;
    }
    bool surrogate = point >= 0xD800 && point <= 0xDFFF;
    return point < least[size] || point > 0x10FFFF || surrogate ? 0 : size;
}

bool bs_model_is_utf8(const char *text, size_t len) {
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t at = 0; at < len;) {
        size_t size = bytes[at] < 0x80 ? 1 : character(bytes + at, len - at);
        if (size == 0)
            return false;
        at += size;
    }
    return true;
}

/* Return the reason why a shell or another system would read the path differently, or NULL. */
static const char *foreign(const char *text, size_t len) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    if (len == 0)
        return "empty";
    if (text[0] == '/')
        return "absolute";
    if (text[0] == '~' && (len == 1 || text[1] == '/'))
        return "home";
    if (len > 1 && text[1] == ':' && text[0] != '\0' && strchr(letters, text[0]) != NULL)
        return "drive";
    return NULL;
}

/* Keep the segments that count. A slash follows each of them except the last one. */
static const char *join(const char *text, size_t len, char *out, size_t *out_len) {
    size_t used = 0;
    size_t start = 0; /* of the current segment in `out` */
    for (size_t at = 0; at <= len; at++) {
        if (at < len && text[at] != '/') {
            out[used++] = text[at];
            continue;
        }
        size_t size = used - start;
        if (size == 2 && out[start] == '.' && out[start + 1] == '.')
            return "parent";
        if (size == 1 && out[start] == '.') {
            used = start;
        } else if (size > 0) {
            out[used++] = '/';
            start = used;
        }
    }
    if (used == 0)
        out[used++] = '.';
    else
        used--;
    *out_len = used;
    return NULL;
}

static const char *bad_ends(const char *text, size_t len) {
    const char *why = foreign(text, len);
    if (why == NULL && (is_blank(text[0]) || is_blank(text[len - 1])))
        why = "blank";
    return why;
}

const char *bs_model_path(const char *path, size_t len, char *out, size_t *out_len) {
    if (!bs_model_is_utf8(path, len))
        return "encoding";
    for (size_t i = 0; i < len; i++) {
        if (path[i] == '\0')
            return "nul";
        if (path[i] == '\\')
            return "backslash";
    }
    const char *why = bad_ends(path, len);
    if (why == NULL)
        why = join(path, len, out, out_len);
    return why != NULL ? why : bad_ends(out, *out_len);
}

/* Shorten runs of three or more stars to two. */
static size_t shorten_stars(char *text, size_t len) {
    size_t used = 0;
    for (size_t i = 0; i < len; i++) {
        bool third = used >= 2 && text[i] == '*' && text[used - 1] == '*' && text[used - 2] == '*';
        if (!third)
            text[used++] = text[i];
    }
    return used;
}

const char *bs_model_glob(const char *glob, size_t len, char *out, size_t *out_len) {
    if (!bs_model_is_utf8(glob, len))
        return "encoding";
    while (len > 0 && is_blank(glob[len - 1]))
        len--;
    while (len > 0 && is_blank(glob[0])) {
        glob++;
        len--;
    }
    size_t stars = 0;
    bool too_many = false;
    for (size_t i = 0; i < len; i++) {
        if (glob[i] == '\0')
            return "nul";
        out[i] = glob[i] == '\\' ? '/' : glob[i];
        stars = glob[i] == '*' ? stars + 1 : 0;
        too_many = too_many || stars > 2;
    }
    /* The output may overwrite the input: it is never longer than the part that was read. */
    const char *why = foreign(out, len);
    if (why == NULL)
        why = join(out, len, out, out_len);
    if (why != NULL)
        return why;
    if (too_many)
        *out_len = shorten_stars(out, *out_len);
    why = foreign(out, *out_len);
    if (why == NULL && *out_len > BS_GLOB_MOST_BYTES)
        why = "long";
    return why;
}
