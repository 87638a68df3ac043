/* The cases of the glob laws. A case is a law and the texts with which it is checked. */
#ifndef BS_FUZZ_LAW_GEN_H
#define BS_FUZZ_LAW_GEN_H

#include "support/glob_gen.h"

enum bs_law {
    BS_LAW_LITERAL,    /* a glob without wildcards matches only itself */
    BS_LAW_EVERYTHING, /* `**` matches every path */
    BS_LAW_DEEPER,     /* `**`/P matches every path that ends in a path which P matches */
    BS_LAW_BELOW,      /* P/`**` matches every path that begins with a path which P matches */
    BS_LAW_FOLD,       /* spellings that fold to the same text match the same paths */
    BS_LAW_TOGETHER,   /* the highest match of a list is the highest of the matches of its globs */
    BS_LAW_LENGTH,     /* 65,536 bytes are the longest glob */
    BS_LAWS
};

enum { BS_LAW_MOST_GLOBS = 8 };

struct bs_law_case {
    enum bs_law law;
    size_t n_globs;
    struct bs_gen_text globs[BS_LAW_MOST_GLOBS];
    struct bs_gen_text path;
    struct bs_gen_text other; /* a second path, for the laws of literals and folding */
    bool equal;               /* for FOLD: `other` has the same units as the glob */
    unsigned tier;            /* for TOGETHER: the first tier to try, an enum bs_tier */
    size_t length;            /* for LENGTH: the length of the glob */
};

void bs_gen_law(const uint8_t *data, size_t size, struct bs_law_case *out);

#endif
