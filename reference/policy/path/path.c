#include "policy/path/path.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "policy/path/block.h"

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Return the reason why the path is refused because of its first or last bytes, or NULL. */
static const char *problem_of_ends(const char *path, size_t len) {
    if (path[0] == '/')
        return "the path is absolute: give it relative to the root of the workspace";
    if (path[0] == '~' && (len == 1 || path[1] == '/'))
        return "`~` has no meaning here: give the path relative to the root of the workspace";
    if (len >= 2 && path[1] == ':' && is_letter(path[0]))
        return "the path has a drive prefix: give it relative to the root of the workspace";
    if (is_blank(path[0]) || is_blank(path[len - 1]))
        return "the path begins or ends with a blank: nothing is trimmed here";
    return NULL;
}

/* True if problem_of_ends may find a problem. For most paths, three bytes show that it finds
 * none. */
static inline bool ends_are_suspect(const char *path, size_t len) {
    static const bool suspect[256] = {['/'] = true, ['~'] = true, [' '] = true, ['\t'] = true};
    return suspect[(unsigned char)path[0]] || suspect[(unsigned char)path[len - 1]] ||
           path[len > 1] == ':';
}

static const char *problem_of_bytes(const char *path, size_t len) {
    if (len == 0)
        return "the path is empty: the root of the workspace is `.`";
    if (memchr(path, '\0', len) != NULL)
        return "the path holds a NUL";
    if (bs_utf8_valid_prefix(path, len) != len)
        return "the path is not valid UTF-8";
    if (memchr(path, '\\', len) != NULL)
        return "the path holds a backslash: separators are `/`";
    return NULL;
}

bool bs_path_is_plain_portable(const char *path, size_t len) {
    if (problem_of_bytes(path, len) != NULL || problem_of_ends(path, len) != NULL)
        return false;
    size_t start = 0;
    for (size_t i = 0; i <= len; i++) {
        if (i < len && path[i] != '/')
            continue;
        size_t size = i - start;
        if (size == 0 || (size <= 2 && path[start] == '.' && path[i - 1] == '.'))
            return false;
        start = i + 1;
    }
    return true;
}

#ifdef __SSE2__
/* The results of scanning a block of 64 bytes. Bit i of a mask belongs to byte i of the block. */
struct scan {
    uint64_t slashes;
    uint64_t dots;
    __m128i refused;   /* each byte is 0xFF for a NUL or a backslash */
    __m128i not_ascii; /* each byte has its top bit set if it is not ASCII */
};

static inline void look(struct scan *scan, __m128i bytes, size_t at) {
    scan->slashes |= bs_block_mask(bytes, '/') << at;
    scan->dots |= bs_block_mask(bytes, '.') << at;
    scan->refused = _mm_or_si128(scan->refused, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    scan->not_ascii = _mm_or_si128(scan->not_ascii, bytes);
}

static inline void scan_block(struct scan *scan, const char *path, size_t at) {
    __m128i bytes;
    memcpy(&bytes, path + at, sizeof bytes);
    scan->refused = _mm_or_si128(scan->refused, _mm_cmpeq_epi8(bytes, _mm_setzero_si128()));
    look(scan, bytes, at);
}

/* Scan up to 64 bytes as four parts of sixteen, which may overlap. Fewer parts would often suffice,
 * but the processor would often mispredict the branch on the length. Returns false if the path is
 * not plain, or if this scan cannot decide it. */
static inline bool block_is_plain(const char *path, size_t len, bool *starts, bool *dotted,
                                  bool *not_ascii, struct bs_path_marks *marks) {
    struct scan scan = {0, 0, _mm_setzero_si128(), _mm_setzero_si128()};
    if (len < 16) {
        __m128i bytes = bs_block_short(path, len);
        look(&scan, bytes, 0);
        if (bs_block_mask(bytes, '\0') << (64 - len) != 0)
            return false;
    } else {
        size_t last = len - 16;
        scan_block(&scan, path, 0);
        scan_block(&scan, path, last < 16 ? last : 16);
        scan_block(&scan, path, last < 16 ? 0 : last - 16);
        scan_block(&scan, path, last);
    }
    /* Of a segment that begins with a dot, only the second byte is examined. So `..a` counts as not
     * plain here, and the exact scan decides. */
    uint64_t begins = scan.slashes << 1 | *starts;
    uint64_t dot_begins = scan.dots & begins;
    uint64_t after_dot = dot_begins << 1 | *dotted;
    *starts = (scan.slashes >> (len - 1) & 1) != 0;
    *dotted = (dot_begins >> (len - 1) & 1) != 0;
    *not_ascii |= _mm_movemask_epi8(scan.not_ascii) != 0;
    *marks = (struct bs_path_marks){scan.slashes, true};
    return ((scan.slashes & begins) | (after_dot & (scan.slashes | scan.dots)) |
            (uint64_t)_mm_movemask_epi8(scan.refused)) == 0;
}

static bool is_plain(const char *path, size_t len, struct bs_path_marks *marks) {
    if (len == 0 || (ends_are_suspect(path, len) && problem_of_ends(path, len) != NULL))
        return false;
    bool starts = true;  /* a segment starts at the next byte */
    bool dotted = false; /* the byte before is a dot at the start of a segment */
    bool not_ascii = false;
    for (size_t at = 0; at < len; at += 64) {
        if (!block_is_plain(path + at, len - at < 64 ? len - at : 64, &starts, &dotted, &not_ascii,
                            marks))
            return false;
    }
    if (starts || dotted)
        return false;
    marks->known = len <= 64;
    return !not_ascii || bs_utf8_valid_prefix(path, len) == len;
}
#else
static bool is_plain(const char *path, size_t len, struct bs_path_marks *marks) {
    marks->known = false;
    return bs_path_is_plain_portable(path, len);
}
#endif

bool bs_path_is_plain(const char *path, size_t len) {
    struct bs_path_marks marks;
    return is_plain(path, len, &marks);
}

/* Copy the path without the segments that the normal form drops. The copy is never longer than the
 * path, and writing never overtakes reading, so `buffer` may be `path`. */
static const char *rewrite(const char *path, size_t len, char *buffer, size_t *out_len) {
    size_t used = 0;
    size_t start = 0;
    for (size_t i = 0; i <= len; i++) {
        if (i < len && path[i] != '/')
            continue;
        const char *segment = path + start;
        size_t size = i - start;
        start = i + 1;
        if (size == 0 || (size == 1 && segment[0] == '.'))
            continue;
        if (size == 2 && segment[0] == '.' && segment[1] == '.')
            return "the path has a `..` segment: name the place itself";
        if (used > 0)
            buffer[used++] = '/';
        memmove(buffer + used, segment, size);
        used += size;
    }
    if (used == 0)
        buffer[used++] = '.';
    buffer[used] = '\0';
    *out_len = used;
    return NULL;
}

/* Return the path without leading `./` and trailing `/`. Most paths need no other change. */
static struct bs_path_view trimmed(const char *path, size_t len) {
    while (len > 2 && path[0] == '.' && path[1] == '/') {
        path += 2;
        len -= 2;
    }
    while (len > 1 && path[len - 1] == '/')
        len--;
    return (struct bs_path_view){.text = path, .len = len};
}

const char *bs_path_view(const char *path, size_t len, char *buffer, struct bs_path_view *out) {
    out->text = path;
    out->len = len;
    if (is_plain(path, len, &out->marks))
        return NULL;
    return bs_path_view_other(path, len, buffer, out);
}

const char *bs_path_view_other(const char *path, size_t len, char *buffer,
                               struct bs_path_view *out) {
    *out = trimmed(path, len);
    if (out->len < len && is_plain(out->text, out->len, &out->marks))
        return NULL;
    const char *problem = problem_of_bytes(path, len);
    if (problem == NULL)
        problem = problem_of_ends(path, len);
    size_t used = 0;
    if (problem == NULL)
        problem = rewrite(path, len, buffer, &used);
    if (problem == NULL)
        problem = problem_of_ends(buffer, used);
    /* if nothing was dropped, the path is in normal form already */
    if (problem == NULL)
        *out = (struct bs_path_view){.text = used == len ? path : buffer, .len = used};
    return problem;
}

int bs_path_normalize(const char *path, size_t len, char *buffer, const char **normal,
                      size_t *normal_len, struct bs_error *err) {
    struct bs_path_view view;
    const char *problem = bs_path_view(path, len, buffer, &view);
    if (problem != NULL)
        return bs_fail(err, BS_E_INVALID, 0, "%s", problem);
    *normal = view.text;
    *normal_len = view.len;
    if (view.text != buffer && view.len < len) {
        memmove(buffer, view.text, view.len);
        buffer[view.len] = '\0';
        *normal = buffer;
    }
    return BS_OK;
}
