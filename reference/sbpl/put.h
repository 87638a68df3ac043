/* Appending a few bytes: a profile is made of little else. What fits is copied here, where the
 * compiler knows how much it is; what does not goes the way of every buffer. */
#ifndef BS_SBPL_PUT_H
#define BS_SBPL_PUT_H

#include <string.h>

#include "base/buf.h"

static inline void bs_put(struct bs_buf *out, const char *text, size_t len) {
    if (out->failed || len >= out->cap - out->len) {
        bs_buf_add(out, text, len);
        return;
    }
    memcpy(out->data + out->len, text, len);
    out->len += len;
}

/* A string literal. */
#define BS_PUT(out, literal) bs_put(out, literal, sizeof(literal) - 1)

#endif
