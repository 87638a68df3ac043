#include "support/pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 64 * 1024, ALIGNMENT = 16 };

struct bs_fuzz_block {
    struct bs_fuzz_block *older;
    size_t used;
    size_t size;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

static void add_block(struct bs_fuzz_pool *pool, size_t size) {
    size_t room = size > FIRST_BLOCK ? size : FIRST_BLOCK;
    struct bs_fuzz_block *block = calloc(1, sizeof *block + room);
    if (block == NULL)
        abort();
    block->older = pool->blocks;
    block->size = room;
    pool->blocks = block;
}

void *bs_fuzz_take(struct bs_fuzz_pool *pool, size_t size) {
    if (size > SIZE_MAX / 2)
        abort();
    size_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (pool->blocks == NULL || pool->blocks->size - pool->blocks->used < rounded)
        add_block(pool, rounded);
    struct bs_fuzz_block *block = pool->blocks;
    void *taken = block->bytes + block->used;
    block->used += rounded;
    return taken;
}

char *bs_fuzz_keep(struct bs_fuzz_pool *pool, const void *data, size_t len) {
    char *copy = bs_fuzz_take(pool, len + 1);
    if (len > 0)
        memcpy(copy, data, len);
    return copy;
}

void bs_fuzz_pool_clear(struct bs_fuzz_pool *pool) {
    while (pool->blocks != NULL && pool->blocks->older != NULL) {
        struct bs_fuzz_block *older = pool->blocks->older;
        free(pool->blocks);
        pool->blocks = older;
    }
    if (pool->blocks == NULL)
        return;
    /* Clear the whole block, because one call costs less than one call for each piece. */
    memset(pool->blocks->bytes, 0, pool->blocks->used);
    pool->blocks->used = 0;
}

void bs_fuzz_pool_free(struct bs_fuzz_pool *pool) {
    bs_fuzz_pool_clear(pool);
    free(pool->blocks);
    pool->blocks = NULL;
}
