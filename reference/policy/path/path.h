/* The normal form of a path without an error object: what a check calls. */
#ifndef BS_POLICY_PATH_PATH_H
#define BS_POLICY_PATH_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <boxspec/path.h>

/* Where the first 64 bytes of a path are `/`: bit i, byte i. The scan that looks at a path anyway
 * knows it. */
struct bs_path_marks {
    uint64_t slashes;
    bool known;
};

struct bs_path_view {
    const char *text;
    size_t len; /* bytes */
    struct bs_path_marks marks;
};

/* NULL and *out filled (with a part of the path, or with `buffer`, which has room for len + 1
 * bytes), or why the path is refused: a constant text, and *out means nothing. */
const char *bs_path_view(const char *path, size_t len, char *buffer, struct bs_path_view *out);
/* The same for a path that is known not to be plain. */
const char *bs_path_view_other(const char *path, size_t len, char *buffer,
                               struct bs_path_view *out);

/* True: the path is in normal form. False says nothing yet: the scan leaves the rare to others. */
bool bs_path_is_plain(const char *path, size_t len);
/* The same where there is no SSE2; its answers may be sharper, never laxer. */
bool bs_path_is_plain_portable(const char *path, size_t len);

#endif
