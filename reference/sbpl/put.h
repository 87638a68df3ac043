/* Appends short texts, of which a profile mostly consists. If the buffer has room, the bytes are
 * copied inline, because the compiler knows the size of a literal; otherwise bs_buf_add appends
 * them. */
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

/* Append a string literal. */
#define BS_PUT(out, literal) bs_put(out, literal, sizeof(literal) - 1)

#endif
