/* Reads a request to run a program from a tree, by the shim protocol: the fields of the request,
 * and whether it must be refused. */
#ifndef BS_FUZZ_REQUEST_ORACLE_H
#define BS_FUZZ_REQUEST_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/node.h"
#include "support/pool.h"

struct bs_fuzz_bytes {
    const char *data; /* NULL: absent */
    size_t len;
};

struct bs_fuzz_request {
    bool refused;
    bool doubtful; /* the protocol leaves open whether the request is refused */
    bool has_nul;  /* a string has a NUL, at which the system would cut it */
    struct bs_fuzz_bytes program;
    struct bs_fuzz_bytes current_dir;
    struct bs_fuzz_bytes stdin_bytes;
    struct bs_fuzz_bytes *args;
    size_t n_args;
    struct bs_fuzz_bytes *env; /* name, value, name, value, ... */
    size_t n_env;              /* pairs */
    bool sets_env;
    bool no_stdin; /* stdin is "null" */
    bool debug;
    bool ignores_stdin_failure;
    uint64_t timeout_ms;
    uint64_t max_output_bytes;
};

void bs_fuzz_request_read(const struct bs_fuzz_node *object, struct bs_fuzz_pool *pool,
                          struct bs_fuzz_request *request);

/* True if an object anywhere in the tree has a repeated name. */
bool bs_fuzz_has_repeated(const struct bs_fuzz_node *node);

/* Return the value of a field of an object, or NULL. */
const struct bs_fuzz_node *bs_fuzz_field(const struct bs_fuzz_node *object, const char *name);

#endif
