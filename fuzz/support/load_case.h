/* One or two policy files, loaded by the reference and judged: what the targets that differ in
 * where their files come from have in common. */
#ifndef BS_FUZZ_LOAD_CASE_H
#define BS_FUZZ_LOAD_CASE_H

#include <boxspec/policy.h>

#include "support/case.h"
#include "support/judge.h"

/* A file as the second readers see it. */
struct bs_fuzz_read {
    struct bs_policy_text text;
    struct bs_fuzz_node *root; /* NULL: not well-formed */
    size_t first;              /* of a JSON text: between which bytes a reader may refuse it */
    size_t last;
    size_t alien;            /* or here */
    struct bs_fuzz_place at; /* of a YAML text: the very place, where line is not 0 */
};

void bs_fuzz_read_text(struct bs_policy_text text, struct bs_fuzz_pool *pool,
                       struct bs_fuzz_read *read);

/* Whether there may be an exception in a file: a `!`, or the end of an escape of one. */
bool bs_fuzz_may_except(const char *text, size_t len);

struct bs_fuzz_load {
    int code;
    struct bs_policy *policy;
    struct bs_policy_report report;
    struct bs_error err;
};

/* Loads, and fails by one of these oracles:
 *
 *     untouched  a refusal that touched the policy, an error without words, a report that does not
 *                fit the outcome
 *     budget     more work or memory than the size of the text allows
 *
 * `workspace` may be NULL. */
void bs_fuzz_load(const struct bs_policy_text *global, const struct bs_policy_text *workspace,
                  struct bs_fuzz_load *load);
void bs_fuzz_load_clear(struct bs_fuzz_load *load);

/* Judges what was loaded, by these oracles:
 *
 *     syntax    a text that the second reader refuses is taken, or the problem is not alone
 *     verdict   the judge finds problems and the reference none, or the other way round
 *     place     a problem stands outside the text, in the wrong order, at a place where the judge
 *               finds none, or at another one than its pointer
 *     warnings  others than the judge's
 *     content   a name or description that differs
 *
 * Fills the verdict where every file is well-formed; false where one is not. */
bool bs_fuzz_judge_load(const struct bs_fuzz_load *load, const struct bs_fuzz_read *global,
                        const struct bs_fuzz_read *workspace, struct bs_fuzz_pool *pool,
                        struct bs_fuzz_verdict *verdict);

/* Whether two loads of the same text said the same, else fails by `again`. */
void bs_fuzz_compare_loads(const struct bs_fuzz_load *first, const struct bs_fuzz_load *second);

#endif
