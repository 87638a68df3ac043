/* Writes a tree as a file, in one of many equivalent spellings: escapes, quotes, white space, line
 * ends, flow and block style. Both readers must read any two spellings of a tree alike. */
#ifndef BS_FUZZ_POLICY_TEXT_H
#define BS_FUZZ_POLICY_TEXT_H

#include "base/buf.h"
#include "support/node.h"

/* Chooses among the spellings by a seed and not by draws, so that a mutation of the policy does not
 * change the spelling of all that follows. The seed 0 gives the plainest spelling. */
struct bs_fuzz_style {
    uint32_t state;
};

/* Write the tree. Scalars other than strings are written as they are. */
void bs_fuzz_put_json(struct bs_buf *out, const struct bs_fuzz_node *root,
                      struct bs_fuzz_style style);
void bs_fuzz_put_yaml(struct bs_buf *out, const struct bs_fuzz_node *root,
                      struct bs_fuzz_style style);

/* Write one string between double quotes, with the escapes of YAML. */
void bs_fuzz_put_quoted(struct bs_buf *out, const struct bs_fuzz_node *string,
                        struct bs_fuzz_style *style);

/* Return a number from 0 to n - 1; always 0 in the plainest style. */
uint32_t bs_fuzz_choose(struct bs_fuzz_style *style, uint32_t n);

#endif
