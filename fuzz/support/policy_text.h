/* A tree as a file, in one of the many spellings that mean the same: escapes, quotes, white space,
 * line ends, flow and block. What the two readers make of two spellings must be alike. */
#ifndef BS_FUZZ_POLICY_TEXT_H
#define BS_FUZZ_POLICY_TEXT_H

#include "base/buf.h"
#include "support/node.h"

/* Chooses among spellings. Not drawn choice by choice: a mutation of the policy should not change
 * how all that follows is spelled. 0 is the plainest spelling. */
struct bs_fuzz_style {
    uint32_t state;
};

/* Scalars that are no strings are written as their text stands. */
void bs_fuzz_put_json(struct bs_buf *out, const struct bs_fuzz_node *root,
                      struct bs_fuzz_style style);
void bs_fuzz_put_yaml(struct bs_buf *out, const struct bs_fuzz_node *root,
                      struct bs_fuzz_style style);

/* One string between double quotes, with the escapes of YAML. */
void bs_fuzz_put_quoted(struct bs_buf *out, const struct bs_fuzz_node *string,
                        struct bs_fuzz_style *style);

/* 0 to n - 1; 0 in the plainest style. */
uint32_t bs_fuzz_choose(struct bs_fuzz_style *style, uint32_t n);

#endif
