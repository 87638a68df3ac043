/* Memory that is freed all at once, by bs_arena_free. One thread at a time. */
#ifndef BS_BASE_ARENA_H
#define BS_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct bs_arena;

enum { BS_ARENA_ROOM = 4096 }; /* for an owner who does not know how much it takes */

/* `room` is what the owner expects to take; the first block has so much, and more are added as
 * needed. NULL when memory ran out, here and below. */
struct bs_arena *bs_arena_new(size_t room);
void bs_arena_free(struct bs_arena *arena); /* NULL is nothing to free */

/* Whether it lies in a block of this arena. */
bool bs_arena_holds(const struct bs_arena *arena, const void *at);

/* Aligned for any type, not initialised. */
void *bs_arena_take(struct bs_arena *arena, size_t size);
/* n elements, zeroed; NULL also where n * size overflows. */
void *bs_arena_zeroed(struct bs_arena *arena, size_t n, size_t size);
/* The same in a block of its own, for arrays that grow. */
void *bs_arena_alone(struct bs_arena *arena, size_t size);
/* For text: not aligned. */
char *bs_arena_bytes(struct bs_arena *arena, size_t size);
/* A copy of len bytes with a NUL behind it. */
char *bs_arena_text(struct bs_arena *arena, const char *text, size_t len);

#endif
