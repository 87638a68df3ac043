#include "policy/match/segments.h"

#include <string.h>

#include "policy/path/block.h"

#ifdef __SSE2__
static inline uint64_t look_at(const char *block, size_t at) {
    __m128i bytes;
    memcpy(&bytes, block + at, sizeof bytes);
    return bs_block_mask(bytes, '/') << at;
}

/* Where the separators of n bytes are, at most 64. Four blocks that overlap, however many would do:
 * lengths cannot be predicted. Nothing behind them is read. */
static uint64_t slashes_of(const char *block, size_t n) {
    if (n < 16)
        return bs_block_mask(bs_block_short(block, n), '/');
    size_t last = n - 16;
    return look_at(block, 0) | look_at(block, last < 16 ? last : 16) |
           look_at(block, last < 16 ? 0 : last - 16) | look_at(block, last);
}
#else
static uint64_t slashes_of(const char *block, size_t n) {
    uint64_t slashes = 0;
    for (size_t i = 0; i < n; i++)
        slashes |= (uint64_t)(block[i] == '/') << i;
    return slashes;
}
#endif

static void look_from(struct bs_segments *segments, size_t base) {
    size_t n = segments->len - base;
    segments->base = base;
    segments->slashes = slashes_of(segments->path + base, n < 64 ? n : 64);
}

void bs_segments_look(struct bs_segments *segments) { look_from(segments, 0); }

void bs_segments_to_last(struct bs_segments *segments) {
    if (segments->at >= segments->len)
        return;
    if (segments->len - segments->base <= 64) {
        if (segments->slashes != 0)
            segments->at = segments->base + 64 - (size_t)__builtin_clzll(segments->slashes);
    } else {
        size_t at = segments->len;
        while (at > segments->at && segments->path[at - 1] != '/')
            at--;
        segments->at = at;
    }
    segments->slashes = 0;
}

/* Without the instruction, which not every machine has. */
static size_t count(uint64_t bits) {
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return bits * UINT64_C(0x0101010101010101) >> 56;
}

size_t bs_segments_left(const struct bs_segments *segments) {
    size_t n = 1 + count(segments->slashes);
    size_t at = segments->base + 64 > segments->at ? segments->base + 64 : segments->at;
    for (; at < segments->len; at += 64) {
        size_t bytes = segments->len - at;
        n += count(slashes_of(segments->path + at, bytes < 64 ? bytes : 64));
    }
    return n;
}

/* A segment that 64 bytes do not hold. */
static void long_segment(struct bs_segments *segments, struct bs_segment *segment) {
    const char *end = memchr(segment->text + 64, '/', segments->len - segments->at - 64);
    segment->len = end != NULL ? (size_t)(end - segment->text) : segments->len - segments->at;
    segments->at += segment->len + 1;
}

void bs_segments_next_far(struct bs_segments *segments, struct bs_segment *segment) {
    look_from(segments, segments->at);
    segment->text = segments->path + segments->at;
    if (segments->slashes == 0 && segments->len - segments->base > 64)
        long_segment(segments, segment);
    else
        (void)bs_segments_next(segments, segment);
}
