/* A second reading of YAML: the events of libyaml without anything of the reference between. What
 * it refuses no policy may hold, whatever it means: anchors, aliases, tags, merge keys, a second
 * document, a key that is no string. What a plain scalar is, the regular expressions of the core
 * schema say (YAML 1.2.2, 10.3.2), letter by letter. */
#ifndef BS_FUZZ_YAML_ORACLE_H
#define BS_FUZZ_YAML_ORACLE_H

#include <stddef.h>

#include "support/node.h"
#include "support/pool.h"

struct bs_fuzz_yaml {
    struct bs_fuzz_node *root; /* NULL: not to be read, `why` says why */
    const char *why;           /* static */
    struct bs_fuzz_place at;   /* where, if what is wrong is an event; else line 0 */
};

void bs_fuzz_yaml_read(const char *text, size_t len, struct bs_fuzz_pool *pool,
                       struct bs_fuzz_yaml *yaml);

#endif
