/* A second YAML reader, which uses the events of libyaml and no code of the reference. It refuses
 * everything that no policy may contain, whatever its meaning: anchors, aliases, tags, merge keys,
 * a second document, keys that are not strings. The type of a plain scalar follows exactly the
 * regular expressions of the core schema (YAML 1.2.2, 10.3.2). */
#ifndef BS_FUZZ_YAML_ORACLE_H
#define BS_FUZZ_YAML_ORACLE_H

#include <stddef.h>

#include "support/node.h"
#include "support/pool.h"

struct bs_fuzz_yaml {
    struct bs_fuzz_node *root; /* NULL: the file cannot be read, see `why` */
    const char *why;           /* static text */
    struct bs_fuzz_place at;   /* place of a wrong event; otherwise line is 0 */
};

void bs_fuzz_yaml_read(const char *text, size_t len, struct bs_fuzz_pool *pool,
                       struct bs_fuzz_yaml *yaml);

#endif
