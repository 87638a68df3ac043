/* Queries the reference for one glob and some paths, and judges the answers. All glob targets use
 * this; they differ in how they make the globs. */
#ifndef BS_FUZZ_GLOB_CASE_H
#define BS_FUZZ_GLOB_CASE_H

#include <boxspec/glob.h>

#include "support/case.h"

struct bs_fuzz_text {
    const char *text;
    size_t len;
};

/* Run the queries and fail by one of these oracles:
 *
 *     refusal  the glob or a path is accepted although it must be refused, or the reverse
 *     match    the reference and support/glob_oracle.h differ
 *     fnmatch  the reference and the C library differ, where both mean the same
 *     steps    the query took more work than the contract allows
 *     error    a refusal has no code or message, or changed the outputs
 */
void bs_fuzz_judge_glob(struct bs_fuzz_text glob, const struct bs_fuzz_text *paths, size_t n);

void bs_fuzz_describe_glob(struct bs_fuzz_case *c, struct bs_fuzz_text glob,
                           const struct bs_fuzz_text *paths, size_t n);

#endif
