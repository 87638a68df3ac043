/* The segments of a normalised path, one after the other, found 64 bytes at a time. */
#ifndef BS_POLICY_MATCH_SEGMENTS_H
#define BS_POLICY_MATCH_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/path/path.h"

struct bs_segments {
    const char *path;
    size_t len;
    size_t at;        /* where the next segment begins; beyond len after the last */
    size_t base;      /* of the bytes that the masks are about, at most 64 */
    uint64_t slashes; /* from `at` on; none: the next segment may be the last */
};

struct bs_segment {
    const char *text;
    size_t len;
};

/* Leaves out all but the last, unless that was handed out. */
void bs_segments_to_last(struct bs_segments *segments);
/* What bs_segments_next leaves: the next segment is beyond the masks. */
void bs_segments_next_far(struct bs_segments *segments, struct bs_segment *segment);
/* What bs_segments_start leaves: where nobody knows the marks. */
void bs_segments_look(struct bs_segments *segments);

static inline void bs_segments_start(struct bs_segments *segments,
                                     const struct bs_path_view *path) {
    segments->path = path->text;
    segments->len = path->len;
    segments->at = 0;
    segments->base = 0;
    segments->slashes = path->marks.slashes;
    if (!path->marks.known)
        bs_segments_look(segments);
}

/* How many segments are left from `at` on, not after the last. */
size_t bs_segments_left(const struct bs_segments *segments);

/* The next segment is the last one. False says nothing of a path that goes on behind the masks. */
static inline bool bs_segments_at_last(const struct bs_segments *segments) {
    return segments->slashes == 0 && segments->len - segments->base <= 64 &&
           segments->at < segments->len;
}

static inline bool bs_segments_next(struct bs_segments *segments, struct bs_segment *segment) {
    size_t at = segments->at;
    uint64_t slashes = segments->slashes;
    if (at >= segments->len)
        return false;
    if (slashes == 0 && segments->len - segments->base > 64) {
        bs_segments_next_far(segments, segment);
        return true;
    }
    size_t end = slashes != 0 ? segments->base + (size_t)__builtin_ctzll(slashes) : segments->len;
    segment->text = segments->path + at;
    segment->len = end - at;
    segments->slashes = slashes & (slashes - 1);
    segments->at = end + 1;
    return true;
}

#endif
