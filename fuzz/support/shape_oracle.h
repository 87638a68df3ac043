/* Checks the shape of a policy file, and turns its tree into lists of rules. This is the first half
 * of the judge. */
#ifndef BS_FUZZ_SHAPE_ORACLE_H
#define BS_FUZZ_SHAPE_ORACLE_H

#include "support/judge.h"

/* A file that is being judged. */
struct bs_fuzz_file {
    struct bs_fuzz_pool *pool;
    struct bs_fuzz_finding **problems;
    struct bs_fuzz_policy policy; /* all parts of the file that could be read */
    bool of_workspace;
    bool is_policy; /* kind and version are valid; otherwise the rest of the file is not read */
};

void bs_fuzz_shape_read(struct bs_fuzz_file *file, const struct bs_fuzz_node *root);

void bs_fuzz_find(struct bs_fuzz_file *file, struct bs_fuzz_place place, const char *what);

#endif
