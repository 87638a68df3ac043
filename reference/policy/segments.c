#include "policy/segments.h"

#include <string.h>

#include "policy/block.h"

#ifdef __SSE2__
static inline void look(__m128i bytes, size_t at, uint64_t *slashes, uint64_t *dots) {
    *slashes |= bs_block_mask(bytes, '/') << at;
    *dots |= bs_block_mask(bytes, '.') << at;
}

static inline void look_at(const char *block, size_t at, uint64_t *slashes, uint64_t *dots) {
    __m128i bytes;
    memcpy(&bytes, block + at, sizeof bytes);
    look(bytes, at, slashes, dots);
}

/* Of n bytes, at most 64. Four blocks that overlap, however many would do: lengths cannot be
 * predicted. Nothing behind them is read. */
static void masks(const char *block, size_t n, uint64_t *slashes, uint64_t *dots) {
    *slashes = 0;
    *dots = 0;
    if (n < 16) {
        look(bs_block_short(block, n), 0, slashes, dots);
        return;
    }
    size_t last = n - 16;
    look_at(block, 0, slashes, dots);
    look_at(block, last < 16 ? last : 16, slashes, dots);
    look_at(block, last < 16 ? 0 : last - 16, slashes, dots);
    look_at(block, last, slashes, dots);
}
#else
static void masks(const char *block, size_t n, uint64_t *slashes, uint64_t *dots) {
    *slashes = 0;
    *dots = 0;
    for (size_t i = 0; i < n; i++) {
        *slashes |= (uint64_t)(block[i] == '/') << i;
        *dots |= (uint64_t)(block[i] == '.') << i;
    }
}
#endif

static void look_from(struct bs_segments *segments, size_t base) {
    size_t n = segments->len - base;
    segments->base = base;
    masks(segments->path + base, n < 64 ? n : 64, &segments->slashes, &segments->dots);
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

/* A segment that 64 bytes do not hold. */
static void long_segment(struct bs_segments *segments, struct bs_segment *segment) {
    const char *end = memchr(segment->text + 64, '/', segments->len - segments->at - 64);
    segment->len = end != NULL ? (size_t)(end - segment->text) : segments->len - segments->at;
    uint64_t slashes = 0;
    masks(segment->text + segment->len - 64, 64, &slashes, &segment->dots);
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
