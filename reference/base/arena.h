/* Memory that is freed all at once, by bs_arena_free. Only one thread at a time may use an
 * arena. */
#ifndef BS_BASE_ARENA_H
#define BS_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct bs_arena;

enum { BS_ARENA_ROOM = 4096 }; /* for callers of bs_arena_new that have no estimate */

/* Make an arena. `room` is the number of bytes that the caller expects to need. The first chunk has
 * that size, and more chunks are added as needed. Like all functions below, this returns NULL if
 * memory ran out. */
struct bs_arena *bs_arena_new(size_t room);
void bs_arena_free(struct bs_arena *arena); /* ignores NULL */

/* True if the address is in a block of this arena. */
bool bs_arena_holds(const struct bs_arena *arena, const void *at);

/* Return memory that is aligned for any type and not initialised. */
void *bs_arena_take(struct bs_arena *arena, size_t size);
/* Return n elements, all zero. NULL also if n * size overflows. */
void *bs_arena_zeroed(struct bs_arena *arena, size_t n, size_t size);
/* As bs_arena_take, in a chunk of its own. For arrays that are replaced when they grow. */
void *bs_arena_own_chunk(struct bs_arena *arena, size_t size);
/* Return memory for text, not aligned. */
char *bs_arena_bytes(struct bs_arena *arena, size_t size);
/* Return a copy of len bytes, followed by a NUL. */
char *bs_arena_text(struct bs_arena *arena, const char *text, size_t len);

#endif
