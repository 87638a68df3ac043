#include "support/provider.h"

#include <stdlib.h>
#include <string.h>

char *bs_fuzz_block(const void *data, size_t size) {
    char *block = malloc(size);
    if (block == NULL) {
        /* malloc(0) may be NULL, and callers hand the block on as a string of no bytes. */
        block = malloc(1);
        if (block == NULL || size > 0)
            abort();
    }
    if (size > 0)
        memcpy(block, data, size);
    return block;
}
