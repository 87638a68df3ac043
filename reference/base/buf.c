#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 256 };

bool bs_buf_grow(struct bs_buf *buf, size_t more) {
    if (buf->failed)
        return false;
    if (more >= SIZE_MAX - buf->len) {
        buf->failed = true;
        return false;
    }
    size_t need = buf->len + more + 1;
    size_t cap = buf->cap > 0 ? buf->cap : FIRST_CAPACITY;
    while (cap < need)
        cap = cap > SIZE_MAX / 2 ? need : cap * 2;
    char *grown = realloc(buf->data, cap);
    if (grown == NULL) {
        buf->failed = true;
        return false;
    }
    buf->data = grown;
    buf->cap = cap;
    return true;
}

void bs_buf_add(struct bs_buf *buf, const void *data, size_t len) {
    if (!bs_buf_reserve(buf, len) || len == 0)
        return;
    memcpy(buf->data + buf->len, data, len);
    buf->len += len;
}

void bs_buf_str(struct bs_buf *buf, const char *text) { bs_buf_add(buf, text, strlen(text)); }

void bs_buf_char(struct bs_buf *buf, char c) { bs_buf_add(buf, &c, 1); }

void bs_buf_u64(struct bs_buf *buf, uint64_t value) {
    char digits[20];
    size_t first = sizeof digits;
    do
        digits[--first] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    bs_buf_add(buf, digits + first, sizeof digits - first);
}

void bs_buf_clear(struct bs_buf *buf) {
    free(buf->data);
    *buf = (struct bs_buf)BS_BUF_INIT;
}

struct bs_bytes bs_buf_take(struct bs_buf *buf) {
    struct bs_bytes bytes = {buf->data, buf->len};
    if (bytes.data != NULL)
        bytes.data[bytes.len] = '\0';
    *buf = (struct bs_buf)BS_BUF_INIT;
    return bytes;
}
