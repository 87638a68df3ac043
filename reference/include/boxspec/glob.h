/* One glob, matched against many paths.
 *
 *   1. Call bs_glob_compile. If it returns 0, *out is the compiled glob.
 *   2. Call bs_glob_match, any number of times, from any number of threads.
 *   3. Call bs_glob_free.
 *
 * `*` matches any run of characters except `/`; a segment that is only `*` needs at least one
 * character. `?` matches one code point except `/`. A `**` segment before a slash matches zero or
 * more segments. If `**` is the last segment, the glob matches the path before this segment and
 * everything below that path. Any other run of two or more stars matches any text, also with `/`.
 * All other characters are literal, for example brackets, braces and a leading `!`. A glob must
 * match the whole path. Names that begin with a dot are not special. Only `.` and `**` match the
 * root, `.`.
 *
 * A match takes time in proportion to path x glob / 64 at most, for every glob and path. It
 * allocates memory only for paths longer than BS_GLOB_PATH_BYTES, and uses at most
 * BS_GLOB_STACK_BYTES of stack.
 *
 * Rules come from the policy contract, conformance/contracts/policy/page.md (POLICY-GLOB-...,
 * POLICY-COST-01). */
#ifndef BOXSPEC_GLOB_H
#define BOXSPEC_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include <boxspec/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* longest path that is matched without allocating memory */
#define BS_GLOB_PATH_BYTES 4096
#define BS_GLOB_MOST_BYTES 65536 /* longest glob, in its normal form */
/* most stack that one match uses, in builds without sanitizers */
#define BS_GLOB_STACK_BYTES (48UL * 1024)

enum bs_case {
    BS_CASE_SENSITIVE, /* compare bytes */
    /* compare after case folding (CaseFolding.txt, statuses C and S) and NFC of both sides */
    BS_CASE_FOLD
};

struct bs_glob;

/* Compile a glob. `pattern` has `len` bytes. The library copies it without the blanks at its ends
 * and in the normal form of a rule. Returns 0, BS_E_INVALID if the pattern is not a glob, not UTF-8
 * or too long, or BS_E_EXECUTION if memory ran out. The caller frees *out. */
BS_EXPORT int bs_glob_compile(const char *pattern, size_t len, enum bs_case sensitivity,
                              struct bs_glob **out, struct bs_error *err);

/* Match the normal form (boxspec/path.h) of `path`, which has `len` bytes. Returns 0 and sets
 * *matched, BS_E_INVALID if the path is refused, or BS_E_EXECUTION if memory ran out for a long
 * path. */
BS_EXPORT int bs_glob_match(const struct bs_glob *glob, const char *path, size_t len, bool *matched,
                            struct bs_error *err);

BS_EXPORT void bs_glob_free(struct bs_glob *glob); /* NULL is ignored */

#ifdef __cplusplus
}
#endif
#endif
