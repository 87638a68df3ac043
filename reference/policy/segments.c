#include "policy/segments.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

static void look(const char *block, unsigned at, uint64_t *slashes, uint64_t *dots) {
    __m128i bytes;
    memcpy(&bytes, block + at, sizeof bytes);
    __m128i slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('/'));
    __m128i dot = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('.'));
    *slashes |= (uint64_t)(uint32_t)_mm_movemask_epi8(slash) << at;
    *dots |= (uint64_t)(uint32_t)_mm_movemask_epi8(dot) << at;
}

/* Of n bytes, at most 64. Four blocks that overlap, however many would do: lengths cannot be
 * predicted. Nothing behind them is read. */
static void masks(const char *block, size_t n, uint64_t *slashes, uint64_t *dots) {
    char padded[16] = {0};
    *slashes = 0;
    *dots = 0;
    if (n < 16) {
        memcpy(padded, block, n);
        look(padded, 0, slashes, dots);
        return;
    }
    unsigned last = (unsigned)n - 16;
    look(block, 0, slashes, dots);
    look(block, last < 16 ? last : 16, slashes, dots);
    look(block, last < 16 ? 0 : last - 16, slashes, dots);
    look(block, last, slashes, dots);
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

void bs_segments_start(struct bs_segments *segments, const char *path, size_t len) {
    *segments = (struct bs_segments){.path = path, .len = len};
    look_from(segments, 0);
}

/* A segment that 64 bytes do not hold. */
static void long_segment(struct bs_segments *segments, struct bs_segment *segment) {
    const char *end = memchr(segment->text + 64, '/', segments->len - segments->at - 64);
    segment->len = end != NULL ? (size_t)(end - segment->text) : segments->len - segments->at;
    uint64_t slashes = 0;
    masks(segment->text + segment->len - 64, 64, &slashes, &segment->dots);
    segments->at += segment->len + 1;
}

bool bs_segments_next(struct bs_segments *segments, struct bs_segment *segment) {
    size_t at = segments->at;
    if (at >= segments->len)
        return false;
    segment->text = segments->path + at;
    uint64_t slashes = at - segments->base < 64 ? segments->slashes >> (at - segments->base) : 0;
    if (slashes == 0 && segments->len - segments->base > 64) {
        look_from(segments, at);
        slashes = segments->slashes;
        if (slashes == 0 && segments->len - at > 64) {
            long_segment(segments, segment);
            return true;
        }
    }
    size_t len = slashes != 0 ? (size_t)__builtin_ctzll(slashes) : segments->len - at;
    segment->len = len;
    segment->dots = segments->dots >> (at - segments->base);
    if (len < 64)
        segment->dots &= (UINT64_C(1) << len) - 1;
    segments->at = at + len + 1;
    return true;
}
