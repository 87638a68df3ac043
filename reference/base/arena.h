/* Memory that is freed all at once, by bs_arena_free. One thread at a time. */
#ifndef BS_BASE_ARENA_H
#define BS_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct bs_arena;

enum { BS_ARENA_ROOM = 4096 }; /* for a caller without an estimate */

/* `room` is the number of bytes that the caller expects to take. The first block has that size, and
 * more blocks are added as needed. NULL when memory ran out, here and below. */
struct bs_arena *bs_arena_new(size_t room);
void bs_arena_free(struct bs_arena *arena); /* ignores NULL */

/* True if the address is in a block of this arena. */
bool bs_arena_holds(const struct bs_arena *arena, const void *at);

/* Aligned for any type, not initialised. */
void *bs_arena_take(struct bs_arena *arena, size_t size);
/* n elements, zeroed; also NULL if n * size overflows. */
void *bs_arena_zeroed(struct bs_arena *arena, size_t n, size_t size);
/* The same in a block of its own, for arrays that grow. */
void *bs_arena_alone(struct bs_arena *arena, size_t size);
/* For text: not aligned. */
char *bs_arena_bytes(struct bs_arena *arena, size_t size);
/* A copy of len bytes, followed by a NUL. */
char *bs_arena_text(struct bs_arena *arena, const char *text, size_t len);

#endif
