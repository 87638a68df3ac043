/* Requests of the shim protocol out of the bytes of an input: globs, paths, policies and checks, by
 * the same generators as the other targets. What the contract leaves open is not asked. */
#ifndef BS_FUZZ_SHIM_GEN_H
#define BS_FUZZ_SHIM_GEN_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "support/pool.h"

enum { BS_SHIM_MOST_REQUESTS = 64, BS_SHIM_MOST_MEMBERS = 3 };

struct bs_fuzz_shim_request {
    const char *op;
    struct {
        const char *name;
        const char *json;
        size_t len;
    } members[BS_SHIM_MOST_MEMBERS];
    size_t n_members;
};

struct bs_fuzz_shim_requests {
    struct bs_fuzz_pool pool;
    struct bs_fuzz_shim_request items[BS_SHIM_MOST_REQUESTS];
    size_t n;
};

void bs_fuzz_shim_requests_read(struct bs_fuzz_shim_requests *requests, const uint8_t *data,
                                size_t size);

/* One line, with this number as its id. */
void bs_fuzz_shim_request_put(struct bs_buf *out, const struct bs_fuzz_shim_request *request,
                              size_t number);

#endif
