/* One glob and some paths, asked of the reference and judged: what the targets that differ in
 * where their globs come from have in common. */
#ifndef BS_FUZZ_GLOB_CASE_H
#define BS_FUZZ_GLOB_CASE_H

#include <boxspec/glob.h>

#include "support/case.h"

struct bs_fuzz_text {
    const char *text;
    size_t len;
};

/* Asks, and fails by one of these oracles:
 *
 *     refusal  the glob, or a path, is taken and should not be, or the other way round
 *     match    the reference and support/glob_oracle.h differ
 *     fnmatch  the reference and the C library differ, where both mean the same
 *     steps    it took more work than the contract allows
 *     error    a refusal without code or message, or one that touched the outputs
 */
void bs_fuzz_judge_glob(struct bs_fuzz_text glob, const struct bs_fuzz_text *paths, size_t n);

void bs_fuzz_describe_glob(struct bs_fuzz_case *c, struct bs_fuzz_text glob,
                           const struct bs_fuzz_text *paths, size_t n);

#endif
