/* Requests of the shim protocol out of the bytes of an input: globs, paths, policies and checks, by
 * the same generators as the other targets. What the contract leaves open is not asked.
 *
 * A batch is always full: where the input ends, bytes go on that depend on all of it. Only the
 * empty input asks nothing: libFuzzer begins with it, and a shim may differ in every batch. A first
 * byte from 192 on asks one request alone, the one of that number: how a finding is brought down to
 * one.
 *
 * A second byte from 248 on says that what follows are the very bytes of a policy file: they are
 * loaded, and so is what becomes of them when they are cut or a byte is changed, until the batch is
 * full. Its lowest bit: the file is YAML, not JSON. The next: behind a byte 255 the file of a
 * workspace follows. The third: that one is YAML.
 */
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
    bool is_broken; /* a file of it is not well-formed: where exactly is left open */
};

struct bs_fuzz_shim_requests {
    struct bs_fuzz_pool pool;
    struct bs_fuzz_shim_request items[BS_SHIM_MOST_REQUESTS];
    size_t n;
    size_t from; /* the first that is asked */
    size_t end;  /* behind the last */
};

void bs_fuzz_shim_requests_read(struct bs_fuzz_shim_requests *requests, const uint8_t *data,
                                size_t size);

/* One line, with this number as its id. */
void bs_fuzz_shim_request_put(struct bs_buf *out, const struct bs_fuzz_shim_request *request,
                              size_t number);

#endif
