/* The normal form of a path without an error object, as a check uses it. */
#ifndef BS_POLICY_PATH_PATH_H
#define BS_POLICY_PATH_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <boxspec/path.h>

/* The separators among the first 64 bytes of a path: bit i is byte i. The scan that checks a path
 * finds them on its way. */
struct bs_path_marks {
    uint64_t slashes;
    bool known;
};

struct bs_path_view {
    const char *text;
    size_t len; /* bytes */
    struct bs_path_marks marks;
};

/* NULL: *out is the normal form, a part of `path` or in `buffer`, which has room for len + 1 bytes.
 * Else the path is refused, and the result says why, a constant text. */
const char *bs_path_view(const char *path, size_t len, char *buffer, struct bs_path_view *out);
/* As bs_path_view, for a path that is known not to be plain. */
const char *bs_path_view_other(const char *path, size_t len, char *buffer,
                               struct bs_path_view *out);

/* True only if the path is in normal form. False for some paths in normal form, too: the scan
 * leaves rare cases to the exact one. */
bool bs_path_is_plain(const char *path, size_t len);
/* As bs_path_is_plain, without SSE2. It recognises more paths, all of them in normal form. */
bool bs_path_is_plain_portable(const char *path, size_t len);

#endif
