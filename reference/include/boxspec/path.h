/* The normal form of the paths that a policy decides about.
 *
 *   1. Provide a buffer of len + 1 bytes.
 *   2. Call bs_path_normalize. If it returns 0, *normal is the path's normal form. If it returns a
 *      negative code, the path is refused, the error says why, and the outputs are untouched.
 *   3. Open the normal form and not the path itself, because the policy decides about the normal
 *      form.
 *
 * A path is a byte string relative to the root of the workspace. The normal form drops `.`
 * segments, and doubled and trailing slashes; the root itself is `.`. All other bytes stay as they
 * are, because the kernel opens exactly these bytes. These paths are refused: an empty path, an
 * absolute path, `~`, a path that begins with `~/` or a drive prefix (`C:`), a `..` segment, a
 * backslash, a blank (space or tab) at either end, a NUL, and invalid UTF-8. The function checks
 * this before and after it drops segments: `./~` is refused like `~`.
 *
 * The caller owns both texts. The function neither allocates nor keeps a reference to them; any
 * thread may call it.
 *
 * Rules come from the policy contract, conformance/contracts/policy/page.md (POLICY-PATH-...). */
#ifndef BOXSPEC_PATH_H
#define BOXSPEC_PATH_H

#include <stddef.h>

#include <boxspec/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bring a path into normal form. `path` has `len` bytes and need not end in a NUL. If the path is
 * in normal form (the common case), *normal is `path`. Otherwise *normal is `buffer`, and a NUL
 * follows the last byte. *normal_len is in bytes and at most len. `buffer` may be `path` if there
 * is room for the NUL. Returns 0, or BS_E_INVALID if the path is refused; *err is written only
 * then. */
BS_EXPORT int bs_path_normalize(const char *path, size_t len, char *buffer, const char **normal,
                                size_t *normal_len, struct bs_error *err);

#ifdef __cplusplus
}
#endif
#endif
