/* Makes requests of the shim protocol from the bytes of an input: globs, paths, policies and
 * checks. They come from the same generators as in the other targets. Questions that the contract
 * leaves open are not generated.
 *
 * A batch is always full: after the end of the input come the bytes of a generator, whose seed is
 * the whole input. Only the empty input makes no request, because libFuzzer begins with it, and a
 * shim may differ in every batch. If the first byte is 192 or more, only the request of that index
 * is sent; this reduces a finding to one request.
 *
 * If the second byte is 248 or more, the remaining bytes are the text of a policy file. The file is
 * loaded unchanged, and then with cuts and changed bytes, until the batch is full. Bit 0 of that
 * byte: the file is YAML, not JSON. Bit 1: a byte 255 separates the file from a workspace file. Bit
 * 2: the workspace file is YAML. */
#ifndef BS_FUZZ_SHIM_GEN_H
#define BS_FUZZ_SHIM_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "support/pool.h"

enum {
    BS_SHIM_MOST_REQUESTS = 64,
    BS_SHIM_MOST_MEMBERS = 3,
    BS_SHIM_ONE_ALONE = 192,
    BS_SHIM_TEXTS = 248
};

struct bs_fuzz_shim_request {
    const char *op;
    struct {
        const char *name;
        const char *json;
        size_t len;
    } members[BS_SHIM_MOST_MEMBERS];
    size_t n_members;
    /* the request has a malformed file, and the contract leaves open where the error is */
    bool is_broken;
};

struct bs_fuzz_shim_requests {
    struct bs_fuzz_pool pool;
    struct bs_fuzz_shim_request items[BS_SHIM_MOST_REQUESTS];
    size_t n;
    size_t from; /* index of the first request to send */
    size_t end;  /* the position after the last request to send */
};

void bs_fuzz_shim_requests_read(struct bs_fuzz_shim_requests *requests, const uint8_t *data,
                                size_t size);

/* Write the request as one line, with `number` as its id. */
void bs_fuzz_shim_request_put(struct bs_buf *out, const struct bs_fuzz_shim_request *request,
                              size_t number);

#endif
