/* Loads one or two policy files with the reference and judges the result. All policy targets use
 * this; they differ in how they make the files. */
#ifndef BS_FUZZ_LOAD_CASE_H
#define BS_FUZZ_LOAD_CASE_H

#include <boxspec/policy.h>

#include "support/case.h"
#include "support/judge.h"

/* A file as the second reader parses it. */
struct bs_fuzz_read {
    struct bs_policy_text text;
    struct bs_fuzz_node *root; /* NULL: the file is not well-formed */
    /* for JSON: the range of bytes at which a reader may report the error */
    size_t first;
    size_t last;
    size_t alien;            /* a further byte at which a reader may report the error */
    struct bs_fuzz_place at; /* for YAML: the exact place of the error if `line` is not 0 */
};

void bs_fuzz_read_text(struct bs_policy_text text, struct bs_fuzz_pool *pool,
                       struct bs_fuzz_read *read);

/* True if a file may contain an exception: it has a `!`, or the last characters of an escaped
 * `!`. */
bool bs_fuzz_may_except(const char *text, size_t len);

struct bs_fuzz_load {
    int code;
    struct bs_policy *policy;
    struct bs_policy_report report;
    struct bs_error err;
};

/* Load the files and fail by one of these oracles:
 *
 *     untouched  a refusal changed the policy, an error has no message, or a report does not fit
 *                the outcome
 *     budget     more work or memory than the size of the text allows
 *
 * `workspace` may be NULL.
 */
void bs_fuzz_load(const struct bs_policy_text *global, const struct bs_policy_text *workspace,
                  struct bs_fuzz_load *load);
void bs_fuzz_load_clear(struct bs_fuzz_load *load);

/* Judge the loaded files by these oracles:
 *
 *     syntax    a text that the second reader refuses is accepted, or reported with further
 *               problems
 *     verdict   the judge finds problems and the reference does not, or the reverse
 *     place     a problem is outside the text, out of order, at a place where the judge finds none,
 *               or not at the place of its pointer
 *     warnings  the warnings differ from those of the judge
 *     content   a name or description differs
 *
 * Fill the verdict and return true if every file is well-formed. */
bool bs_fuzz_judge_load(const struct bs_fuzz_load *load, const struct bs_fuzz_read *global,
                        const struct bs_fuzz_read *workspace, struct bs_fuzz_pool *pool,
                        struct bs_fuzz_verdict *verdict);

/* Fail by the oracle `again` if two loads of the same text gave different results. */
void bs_fuzz_compare_loads(const struct bs_fuzz_load *first, const struct bs_fuzz_load *second);

#endif
