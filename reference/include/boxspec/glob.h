/* One glob, matched against many paths.
 *
 *   1. bs_glob_compile. 0: *out is the compiled glob.
 *   2. bs_glob_match, any number of times, from any number of threads.
 *   3. bs_glob_free.
 *
 * `*` is any run of characters except `/`, and a segment that is only `*` needs a character. `?` is
 * one code point except `/`. A `**` segment before a slash is zero or more segments; `P` with `**`
 * as its last segment is P itself and everything below; any other run of two and more stars is any
 * text, also with `/`. All other characters are literal: brackets, braces, a leading `!`. A glob is
 * anchored at both ends, and names that begin with a dot are not special. The root, `.`, is matched
 * by `.` and
 * `**` only.
 *
 * A match takes time in proportion to path x glob / 64 at most, for every glob and path. It
 * allocates only for paths longer than BS_GLOB_PATH_BYTES and takes at most BS_GLOB_STACK_BYTES of
 * stack.
 *
 * Rules come from the policy contract, conformance/contracts/policy/page.md (POLICY-GLOB-...,
 * POLICY-COST-01).
 */
#ifndef BOXSPEC_GLOB_H
#define BOXSPEC_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include <boxspec/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BS_GLOB_PATH_BYTES 4096           /* length of a path; longer paths may need memory */
#define BS_GLOB_MOST_BYTES 65536          /* length of a glob in its normal form */
#define BS_GLOB_STACK_BYTES (48UL * 1024) /* stack of one match, in builds without sanitizers */

enum bs_case {
    BS_CASE_SENSITIVE, /* compare bytes */
    /* compare after case folding (CaseFolding.txt, statuses C and S) and NFC of both sides */
    BS_CASE_FOLD
};

struct bs_glob;

/* `pattern` has `len` bytes. It is brought into the normal form of a rule's body, without blanks at
 * its ends, and copied. Returns 0, BS_E_INVALID if it is no glob, not UTF-8 or too long, or
 * BS_E_EXECUTION if memory ran out. The caller frees *out. */
BS_EXPORT int bs_glob_compile(const char *pattern, size_t len, enum bs_case sensitivity,
                              struct bs_glob **out, struct bs_error *err);

/* `path` has `len` bytes. Its normal form (boxspec/path.h) is compared. Returns 0 and sets
 * *matched, BS_E_INVALID if the path is refused, or BS_E_EXECUTION if memory ran out for a long
 * path. */
BS_EXPORT int bs_glob_match(const struct bs_glob *glob, const char *path, size_t len, bool *matched,
                            struct bs_error *err);

BS_EXPORT void bs_glob_free(struct bs_glob *glob); /* NULL is ignored */

#ifdef __cplusplus
}
#endif
#endif
