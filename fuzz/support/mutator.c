#include "support/mutator.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct work {
    uint8_t *data;
    size_t size;
    size_t room;
    uint32_t seed;
};

struct piece {
    size_t at;
    size_t len;
};

/* Numbers of symbols in the table of glob_gen.c. */
enum { SYMBOLS = 32, ENDS = 2, FIRST_SLASH = 6, LAST_SLASH = 8, FIRST_WILD = 9, WILDS = 8 };

static uint32_t draw_below(struct work *work, size_t n) {
    work->seed ^= work->seed << 13;
    work->seed ^= work->seed >> 17;
    work->seed ^= work->seed << 5;
    return n == 0 ? 0 : work->seed % (uint32_t)n;
}

static bool divides(uint8_t byte) {
    unsigned symbol = byte % SYMBOLS;
    return symbol < ENDS || (symbol >= FIRST_SLASH && symbol <= LAST_SLASH);
}

/* Return the segment at a position, with the byte that ends it. */
static struct piece piece_at(const uint8_t *data, size_t size, size_t at) {
    struct piece piece = {at, 0};
    while (piece.at > 0 && !divides(data[piece.at - 1]))
        piece.at--;
    while (piece.at + piece.len < size && !divides(data[piece.at + piece.len]))
        piece.len++;
    piece.len += piece.at + piece.len < size;
    return piece;
}

/* Replace a piece by `len` bytes if there is room. */
static void replace(struct work *work, struct piece piece, const uint8_t *bytes, size_t len) {
    size_t rest = work->size - piece.at - piece.len;
    if (piece.at + len + rest > work->room)
        return;
    memmove(work->data + piece.at + len, work->data + piece.at + piece.len, rest);
    memcpy(work->data + piece.at, bytes, len);
    work->size = piece.at + len + rest;
}

static struct piece any_piece(struct work *work) {
    return piece_at(work->data, work->size, draw_below(work, work->size));
}

static void put_piece(struct work *work, struct piece into, const uint8_t *from, size_t from_size) {
    uint8_t bytes[256];
    struct piece piece = piece_at(from, from_size, draw_below(work, from_size));
    if (from_size == 0 || piece.len > sizeof bytes)
        return;
    memcpy(bytes, from + piece.at, piece.len);
    replace(work, into, bytes, piece.len);
}

static void change_wildcard(struct work *work, bool insert) {
    size_t at = draw_below(work, work->size);
    for (size_t i = 0; i < work->size && !insert; i++) {
        unsigned symbol = work->data[(at + i) % work->size] % SYMBOLS;
        if (symbol >= FIRST_WILD && symbol < FIRST_WILD + WILDS) {
            at = (at + i) % work->size;
            break;
        }
    }
    uint8_t wild = (uint8_t)(FIRST_WILD + draw_below(work, WILDS));
    replace(work, (struct piece){at, insert ? 0 : 1}, &wild, 1);
}

/* Copy the glob, which is the bytes before the first end, to the place of the path. */
static void copy_glob(struct work *work) {
    uint8_t bytes[256];
    size_t len = 0;
    while (len < work->size && work->data[len] % SYMBOLS >= ENDS)
        len++;
    if (len + 2 > sizeof bytes)
        return;
    bytes[0] = 0;
    bytes[1] = 1;
    memcpy(bytes + 2, work->data, len);
    replace(work, (struct piece){len, work->size - len}, bytes, len + 2);
}

size_t bs_fuzz_mutate(uint8_t *data, size_t size, size_t room, const uint8_t *other,
                      size_t other_size, uint32_t seed) {
    struct work work = {data, size, room, seed | 1};
    if (room == 0)
        return size;
    if (size == 0)
        data[work.size++] = 0;
    for (uint32_t n = 1 + draw_below(&work, 3); n > 0; n--) {
        struct piece piece = any_piece(&work);
        struct piece nothing = {piece.at, 0};
        switch (draw_below(&work, 7)) {
        case 0:
            if (piece.len < work.size)
                replace(&work, piece, data, 0);
            break;
        case 1:
            put_piece(&work, nothing, data + piece.at, piece.len);
            break;
        case 2:
            put_piece(&work, piece, data, work.size);
            break;
        case 3:
            if (other != NULL)
                put_piece(&work, nothing, other, other_size);
            break;
        case 4:
            change_wildcard(&work, false);
            break;
        case 5:
            change_wildcard(&work, true);
            break;
        default:
            copy_glob(&work);
        }
    }
    return work.size;
}

#ifdef BS_FUZZ_AFL_MUTATOR

/* The interface of afl-fuzz, which runs its own mutations as well. */
void *afl_custom_init(void *afl, unsigned seed);
size_t afl_custom_fuzz(void *state, uint8_t *data, size_t size, uint8_t **out, uint8_t *other,
                       size_t other_size, size_t most);
void afl_custom_deinit(void *state);

struct state {
    uint32_t seed;
    size_t most; /* the target's limit on an input */
    uint8_t *bytes;
    size_t room;
};

void *afl_custom_init(void *afl, unsigned seed) {
    (void)afl;
    const char *most = getenv("BOXSPEC_FUZZ_MOST_BYTES");
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return NULL;
    state->seed = seed;
    state->most = most != NULL ? strtoul(most, NULL, 10) : SIZE_MAX;
    return state;
}

size_t afl_custom_fuzz(void *opaque, uint8_t *data, size_t size, uint8_t **out, uint8_t *other,
                       size_t other_size, size_t most) {
    struct state *state = opaque;
    /* Use the target's own limit. afl-fuzz offers a megabyte here, whatever limit -G sets, and
     * later cuts longer inputs. */
    if (most > state->most)
        most = state->most;
    if (state->room < most) {
        free(state->bytes);
        state->bytes = malloc(most);
        state->room = state->bytes != NULL ? most : 0;
    }
    *out = state->bytes;
    if (state->bytes == NULL)
        return 0;
    if (size > most)
        size = most;
    memcpy(state->bytes, data, size);
    state->seed = state->seed * 1664525U + 1013904223U;
    return bs_fuzz_mutate(state->bytes, size, most, other, other_size, state->seed);
}

void afl_custom_deinit(void *opaque) {
    struct state *state = opaque;
    free(state->bytes);
    free(state);
}

#else

/* The interface of libFuzzer. Half of the calls use libFuzzer's own mutations, because they find as
 * much as the mutations of this file. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) {
    if ((seed & 1) != 0 && LLVMFuzzerMutate != NULL)
        return LLVMFuzzerMutate(data, size, room);
    return bs_fuzz_mutate(data, size, room, NULL, 0, seed * 2654435761U);
}

#endif
