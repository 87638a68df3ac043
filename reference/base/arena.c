#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Each chunk is much larger than the one before, so that a large policy needs few of them; the
 * kernel provides no memory for parts that are never touched. glibc returns the free end of the
 * heap to the kernel if it exceeds twice the largest block that was unmapped. With small chunks
 * only, the kernel would have to provide the same pages again for each policy that is loaded. */
enum {
    GROWTH = 8,
    LARGEST_CHUNK = BS_ARENA_ROOM * GROWTH * GROWTH * GROWTH,
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

struct bs_arena *bs_arena_new(size_t room) {
    size_t own = (sizeof(struct bs_arena) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (room > SIZE_MAX / 2)
        return NULL;
    struct chunk *chunk = chunk_new(own + room, NULL);
    if (chunk == NULL)
        return NULL;
    chunk->used = own;
    struct bs_arena *arena = (void *)chunk->data;
    *arena = (struct bs_arena){chunk, (size_t)BS_ARENA_ROOM * (room < BS_ARENA_ROOM ? 1 : GROWTH)};
    return arena;
}

void bs_arena_free(struct bs_arena *arena) {
    if (arena == NULL)
        return;
    struct chunk *chunk = arena->last; /* one of the chunks holds the arena itself */
    while (chunk != NULL) {
        struct chunk *before = chunk->before;
        free(chunk);
        chunk = before;
    }
}

bool bs_arena_holds(const struct bs_arena *arena, const void *at) {
    uintptr_t asked = (uintptr_t)at;
    for (const struct chunk *chunk = arena->last; chunk != NULL; chunk = chunk->before) {
        if (asked >= (uintptr_t)chunk->data && asked - (uintptr_t)chunk->data < chunk->size)
            return true;
    }
    return false;
}

void *bs_arena_own_chunk(struct bs_arena *arena, size_t size) {
    /* `last` stays the chunk that still has room; the new one is full */
    struct chunk *last = arena->last;
    if (size > SIZE_MAX / 2)
        return NULL;
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
    if (size > arena->next_size)
        return bs_arena_own_chunk(arena, size);
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
