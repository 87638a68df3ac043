/* Generated policies as files. Used by the targets that start from valid policies. */
#ifndef BS_FUZZ_POLICY_CASE_H
#define BS_FUZZ_POLICY_CASE_H

#include "support/load_case.h"
#include "support/policy_gen.h"
#include "support/policy_text.h"

/* Write the tree as a file, in a block of exactly its size. Free it with bs_fuzz_text_free. */
struct bs_policy_text bs_fuzz_write(const struct bs_fuzz_node *root, enum bs_policy_format format,
                                    struct bs_fuzz_style style);
void bs_fuzz_text_free(struct bs_policy_text *text);

/* Load the written files, and judge them by the oracles of support/load_case.h and by this one:
 *
 *     written  for one of the two readers, a file that was written here is not well-formed
 *
 * `workspace` may be NULL. */
void bs_fuzz_load_written(const struct bs_policy_text *global,
                          const struct bs_policy_text *workspace, struct bs_fuzz_pool *pool,
                          struct bs_fuzz_load *load, struct bs_fuzz_verdict *verdict);

/* Add the files as members of a request (text, format and, if given, workspace).
 * bs_fuzz_case_policy adds them as its member `policy`. */
void bs_fuzz_case_texts(struct bs_fuzz_case *c, const struct bs_policy_text *global,
                        const struct bs_policy_text *workspace);
void bs_fuzz_case_policy(struct bs_fuzz_case *c, const struct bs_policy_text *global,
                         const struct bs_policy_text *workspace);

/* Return the value of the first member of that name, or NULL. */
struct bs_fuzz_node *bs_fuzz_member(struct bs_fuzz_node *map, const char *name);

/* True if the policies are equal. The places of their rules may differ. */
bool bs_fuzz_same_policy(const struct bs_fuzz_policy *a, const struct bs_fuzz_policy *b);

#endif
