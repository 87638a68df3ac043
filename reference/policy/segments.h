/* The segments of a normalised path, one after the other, found 64 bytes at a time. */
#ifndef BS_POLICY_SEGMENTS_H
#define BS_POLICY_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bs_segments {
    const char *path;
    size_t len;
    size_t at;   /* where the next segment begins; beyond len after the last */
    size_t base; /* of the bytes that the masks are about, at most 64 */
    uint64_t slashes;
    uint64_t dots;
};

struct bs_segment {
    const char *text;
    size_t len;
    uint64_t dots; /* bit i: byte i of the last 64 bytes, or of all if there are fewer */
};

void bs_segments_start(struct bs_segments *segments, const char *path, size_t len);
bool bs_segments_next(struct bs_segments *segments, struct bs_segment *segment);

#endif
