/* Memory of one case, taken in small pieces and given back all at once. Running out of it ends the
 * process: a helper that goes on with less has found nothing. */
#ifndef BS_FUZZ_POOL_H
#define BS_FUZZ_POOL_H

#include <stddef.h>

struct bs_fuzz_block;

struct bs_fuzz_pool {
    struct bs_fuzz_block *blocks; /* the newest first */
};

#define BS_FUZZ_POOL_INIT                                                                          \
    { 0 }

/* Zeroed, aligned for anything, never NULL. */
void *bs_fuzz_take(struct bs_fuzz_pool *pool, size_t size);

/* A copy with a NUL behind it. */
char *bs_fuzz_keep(struct bs_fuzz_pool *pool, const void *data, size_t len);

/* The oldest block stays for the next case; bs_fuzz_pool_free gives that back, too. */
void bs_fuzz_pool_clear(struct bs_fuzz_pool *pool);
void bs_fuzz_pool_free(struct bs_fuzz_pool *pool);

#endif
