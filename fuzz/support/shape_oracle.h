/* The shape of a policy file: from a tree to lists of rules. The first half of the judge. */
#ifndef BS_FUZZ_SHAPE_ORACLE_H
#define BS_FUZZ_SHAPE_ORACLE_H

#include "support/judge.h"

/* One file on its way through the judge. */
struct bs_fuzz_file {
    struct bs_fuzz_pool *pool;
    struct bs_fuzz_finding **problems;
    struct bs_fuzz_policy policy; /* as far as it could be read */
    bool of_workspace;
    bool is_policy; /* kind and version are right: the rest is worth reading */
};

void bs_fuzz_shape_read(struct bs_fuzz_file *file, const struct bs_fuzz_node *root);

void bs_fuzz_find(struct bs_fuzz_file *file, struct bs_fuzz_place place, const char *what);

#endif
