/* The normal form of a path, without error objects. Checks use these functions because they are
 * fast. */
#ifndef BS_POLICY_PATH_PATH_H
#define BS_POLICY_PATH_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <boxspec/path.h>

/* Positions of the separators in the first 64 bytes of a path: bit i belongs to byte i. The scan
 * that checks a path finds them without extra cost. */
struct bs_path_marks {
    uint64_t slashes;
    bool known;
};

struct bs_path_view {
    const char *text;
    size_t len; /* bytes */
    struct bs_path_marks marks;
};

/* Bring a path into normal form. If the result is NULL, *out is the normal form: a part of `path`,
 * or text in `buffer`, which has room for len + 1 bytes. Otherwise the path is refused and the
 * result is the reason, a static string. */
const char *bs_path_view(const char *path, size_t len, char *buffer, struct bs_path_view *out);
/* As bs_path_view, for a path for which bs_path_is_plain has returned false. */
const char *bs_path_view_other(const char *path, size_t len, char *buffer,
                               struct bs_path_view *out);

/* True only if the path is in normal form. For some paths in normal form the result is false,
 * because this fast scan leaves rare cases to the exact one. */
bool bs_path_is_plain(const char *path, size_t len);
/* As bs_path_is_plain, without SSE2. It is true for more of the paths that are in normal form. */
bool bs_path_is_plain_portable(const char *path, size_t len);

#endif
