/* Memory that is given back all at once. Blocks live until bs_arena_free; nothing in it is freed
 * alone. One thread at a time. */
#ifndef BS_BASE_ARENA_H
#define BS_BASE_ARENA_H

#include <stddef.h>

struct bs_arena;

enum { BS_ARENA_ROOM = 4096 }; /* for an owner who does not know */

/* `room` is what its owner expects to take: so much is asked for at once. It grows beyond. NULL
 * when memory ran out, here and below. */
struct bs_arena *bs_arena_new(size_t room);
void bs_arena_free(struct bs_arena *arena); /* NULL is nothing to free */

/* Aligned for any type; what is in it is not set. */
void *bs_arena_take(struct bs_arena *arena, size_t size);
/* n elements, zeroed; NULL also where n * size overflows. */
void *bs_arena_zeroed(struct bs_arena *arena, size_t n, size_t size);
/* The same, as a chunk of its own: for what outgrows itself. */
void *bs_arena_alone(struct bs_arena *arena, size_t size);
/* For text: not aligned. */
char *bs_arena_bytes(struct bs_arena *arena, size_t size);
/* A copy of len bytes with a NUL behind it. */
char *bs_arena_text(struct bs_arena *arena, const char *text, size_t len);

#endif
