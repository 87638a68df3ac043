/* Paths that a policy is asked about: their one normal form.
 *
 *   1. Have a buffer of len + 1 bytes at hand.
 *   2. bs_path_normalize. 0: *normal is the path's normal form. Negative: the path is refused and
 *      the error says why; the outputs are untouched.
 *   3. Open the normal form and nothing else: it is what was decided about.
 *
 * A path is a byte string relative to the root of the workspace. `.` segments, doubled and trailing
 * separators are dropped; the root itself is `.`. Nothing is trimmed or replaced, because the
 * kernel will open the very bytes that are asked for. What cannot be meant is refused: an empty
 * path, an absolute one, `~` and what begins with `~/` or a drive prefix (`C:`), a `..` segment, a
 * backslash, a blank (space or tab) at either end, a NUL, invalid UTF-8. All of these are looked
 * for before and after segments were dropped: `./~` is refused like `~`.
 *
 * Nothing is allocated and nothing is kept. Any thread.
 *
 * Rules come from the policy contract, conformance/contracts/policy/page.md (POLICY-PATH-...).
 */
#ifndef BOXSPEC_PATH_H
#define BOXSPEC_PATH_H

#include <stddef.h>

#include <boxspec/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `path` has `len` bytes and need not end in a NUL. *normal is `path` itself when it is in normal
 * form already (the common case, decided in one pass), else it is `buffer`, where a NUL follows the
 * last byte. *normal_len is in bytes and at most len. 0 or BS_E_INVALID; *err is written on refusal
 * only. `buffer` may be `path` itself when that has room for the NUL. */
BS_EXPORT int bs_path_normalize(const char *path, size_t len, char *buffer, const char **normal,
                                size_t *normal_len, struct bs_error *err);

#ifdef __cplusplus
}
#endif
#endif
