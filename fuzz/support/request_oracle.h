/* What the shim protocol says of a request to run a program, read off a tree: whether it is to be
 * refused, and what is in it. */
#ifndef BS_FUZZ_REQUEST_ORACLE_H
#define BS_FUZZ_REQUEST_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/node.h"
#include "support/pool.h"

struct bs_fuzz_bytes {
    const char *data; /* NULL: not given */
    size_t len;
};

struct bs_fuzz_request {
    bool refused;
    bool doubtful; /* the protocol leaves it open */
    bool has_nul;  /* in a string that the system would end there */
    struct bs_fuzz_bytes program;
    struct bs_fuzz_bytes current_dir;
    struct bs_fuzz_bytes stdin_bytes;
    struct bs_fuzz_bytes *args;
    size_t n_args;
    struct bs_fuzz_bytes *env; /* name, value, name, value, ... */
    size_t n_env;              /* pairs */
    bool sets_env;
    bool no_stdin; /* "null" */
    bool debug;
    bool ignores_stdin_failure;
    uint64_t timeout_ms;
    uint64_t max_output_bytes;
};

void bs_fuzz_request_read(const struct bs_fuzz_node *object, struct bs_fuzz_pool *pool,
                          struct bs_fuzz_request *request);

/* Whether an object anywhere in the tree has a name twice. */
bool bs_fuzz_has_repeated(const struct bs_fuzz_node *node);

/* Of an object; NULL when there is none. */
const struct bs_fuzz_node *bs_fuzz_field(const struct bs_fuzz_node *object, const char *name);

#endif
