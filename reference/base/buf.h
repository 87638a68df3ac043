/* A buffer that doubles its memory when it is full. realloc moves large blocks by remapping pages,
 * so resident memory does not double while it grows. If memory runs out, `failed` is set and later
 * appends do nothing, so a caller checks `failed` once at the end. */
#ifndef BS_BASE_BUF_H
#define BS_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <boxspec/bytes.h>

struct bs_buf {
    char *data;
    size_t len;
    size_t cap;
    bool failed;
};

#define BS_BUF_INIT                                                                                \
    { 0, 0, 0, false }

bool bs_buf_grow(struct bs_buf *buf, size_t more);

/* Make room for `more` bytes after len, and for a NUL. Returns false if memory ran out. */
static inline bool bs_buf_reserve(struct bs_buf *buf, size_t more) {
    return (!buf->failed && more < buf->cap - buf->len) || bs_buf_grow(buf, more);
}

void bs_buf_add(struct bs_buf *buf, const void *data, size_t len);
void bs_buf_str(struct bs_buf *buf, const char *text);
void bs_buf_char(struct bs_buf *buf, char c);
void bs_buf_u64(struct bs_buf *buf, uint64_t value);
void bs_buf_clear(struct bs_buf *buf);

/* Move the contents to a struct bs_bytes, with a NUL after the last byte. The buffer is empty
 * then. */
struct bs_bytes bs_buf_take(struct bs_buf *buf);

#endif
