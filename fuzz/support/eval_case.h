/* Generated policies, with paths to query. */
#ifndef BS_FUZZ_EVAL_CASE_H
#define BS_FUZZ_EVAL_CASE_H

#include <boxspec/profile.h>

#include "support/decide_oracle.h"
#include "support/policy_case.h"

enum { BS_EVAL_MOST_PATHS = 4 };

struct bs_eval_case {
    struct bs_fuzz_pool pool;
    struct bs_gen_policies gen; /* draws from the rest of the input */
    struct bs_fuzz_provider from;
    struct bs_fuzz_style style;
    struct bs_fuzz_node *global;
    struct bs_fuzz_node *workspace; /* NULL: there is no workspace policy */
    enum bs_policy_format formats[2];
    uint32_t law;        /* number of the law; drawn first, so that short inputs reach all laws */
    const char *profile; /* NULL: no profile is named */
    struct bs_fuzz_text paths[BS_EVAL_MOST_PATHS];
    size_t n_paths;
};

void bs_eval_case_read(struct bs_eval_case *input, const uint8_t *data, size_t size);
void bs_eval_case_clear(struct bs_eval_case *input);
void bs_eval_case_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size);

/* Write the case as files; the caller frees them with bs_fuzz_text_free. Without a workspace policy
 * *workspace is unchanged. */
void bs_eval_case_write(const struct bs_eval_case *input, struct bs_policy_text *global,
                        struct bs_policy_text *workspace);

/* Load the case and compile its profile. Return NULL if any step refuses it. */
struct bs_profile *bs_eval_compile(const struct bs_eval_case *input, unsigned flags);

#endif
