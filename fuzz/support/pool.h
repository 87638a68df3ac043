/* Memory of one case, allocated in small pieces and freed all at once. If memory runs out the
 * process ends, because an oracle that continues without it could report a false finding. */
#ifndef BS_FUZZ_POOL_H
#define BS_FUZZ_POOL_H

#include <stddef.h>

struct bs_fuzz_block;

struct bs_fuzz_pool {
    struct bs_fuzz_block *blocks; /* newest first */
};

#define BS_FUZZ_POOL_INIT                                                                          \
    { 0 }

/* Return memory that is zeroed and aligned for any type. Never returns NULL. */
void *bs_fuzz_take(struct bs_fuzz_pool *pool, size_t size);

/* Copy the bytes and add a NUL. */
char *bs_fuzz_keep(struct bs_fuzz_pool *pool, const void *data, size_t len);

/* Free all blocks except the oldest one, which the next case uses. bs_fuzz_pool_free frees that
 * block too. */
void bs_fuzz_pool_clear(struct bs_fuzz_pool *pool);
void bs_fuzz_pool_free(struct bs_fuzz_pool *pool);

#endif
