#include "policy/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The first chunk holds a small policy whole; later ones grow fast, so that a large one takes few.
 * What is not used of them is never touched. glibc hands back to the kernel what is free at the end
 * of the heap when it is more than twice the largest block that was unmapped: were all blocks much
 * smaller than an arena, each load would have to be given its pages anew. */
enum {
    FIRST_CHUNK = 4096,
    GROWTH = 8,
    LARGEST_CHUNK = FIRST_CHUNK * GROWTH * GROWTH * GROWTH,
    ALIGNMENT = alignof(max_align_t)
};

struct chunk {
    struct chunk *before;
    size_t used;
    size_t size;
    alignas(max_align_t) char data[];
};

struct bs_arena {
    struct chunk *last;
    size_t next_size;
};

static struct chunk *chunk_new(size_t size, struct chunk *before) {
    struct chunk *chunk = malloc(sizeof *chunk + size);
    if (chunk != NULL)
        *chunk = (struct chunk){.before = before, .size = size};
    return chunk;
}

struct bs_arena *bs_arena_new(void) {
    struct chunk *chunk = chunk_new(FIRST_CHUNK, NULL);
    if (chunk == NULL)
        return NULL;
    struct bs_arena *arena = (void *)chunk->data;
    chunk->used = (sizeof *arena + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    *arena = (struct bs_arena){chunk, (size_t)GROWTH * FIRST_CHUNK};
    return arena;
}

void bs_arena_free(struct bs_arena *arena) {
    if (arena == NULL)
        return;
    struct chunk *chunk = arena->last; /* the arena itself lies in one of them */
    while (chunk != NULL) {
        struct chunk *before = chunk->before;
        free(chunk);
        chunk = before;
    }
}

/* A chunk of its own, behind the last, whose room is still of use. */
static char *take_alone(struct chunk *last, size_t size) {
    struct chunk *chunk = chunk_new(size, last->before);
    if (chunk == NULL)
        return NULL;
    chunk->used = size;
    last->before = chunk;
    return chunk->data;
}

static char *take(struct bs_arena *arena, size_t size, size_t alignment) {
    struct chunk *chunk = arena->last;
    size_t at = (chunk->used + alignment - 1) / alignment * alignment;
    if (at <= chunk->size && chunk->size - at >= size) {
        chunk->used = at + size;
        return chunk->data + at;
    }
    if (size > SIZE_MAX / 2)
        return NULL;
    if (size > arena->next_size)
        return take_alone(chunk, size);
    chunk = chunk_new(arena->next_size, chunk);
    if (chunk == NULL)
        return NULL;
    if (arena->next_size < LARGEST_CHUNK)
        arena->next_size *= GROWTH;
    chunk->used = size;
    arena->last = chunk;
    return chunk->data;
}

void *bs_arena_take(struct bs_arena *arena, size_t size) { return take(arena, size, ALIGNMENT); }

void *bs_arena_zeroed(struct bs_arena *arena, size_t n, size_t size) {
    if (size > 0 && n > SIZE_MAX / size)
        return NULL;
    void *block = take(arena, n * size, ALIGNMENT);
    if (block != NULL)
        memset(block, 0, n * size);
    return block;
}

char *bs_arena_bytes(struct bs_arena *arena, size_t size) { return take(arena, size, 1); }

char *bs_arena_text(struct bs_arena *arena, const char *text, size_t len) {
    char *copy = take(arena, len + 1, 1);
    if (copy == NULL)
        return NULL;
    if (len > 0)
        memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}
