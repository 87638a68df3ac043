/* Writes JSON. The writer adds commas and escapes. The caller opens containers, writes values and
 * closes containers, in the order of the text. In an object it writes a key before each value.
 *
 *     bs_json_open_object(&out);
 *     bs_json_put_key(&out, "path");
 *     bs_json_put_text(&out, path);
 *     bs_json_close_object(&out);
 *
 * The writer builds no tree, because a tree would cost more time than the rest of an answer. If
 * memory runs out, text.failed is set and later calls do nothing, so a caller checks it once at the
 * end. */
#ifndef BS_BASE_JSON_WRITE_H
#define BS_BASE_JSON_WRITE_H

#include "base/buf.h"

struct bs_json_writer {
    struct bs_buf text;
    bool needs_comma; /* a member or an element was written at this level */
};

#define BS_JSON_WRITER_INIT                                                                        \
    { BS_BUF_INIT, false }

void bs_json_open_object(struct bs_json_writer *out);
void bs_json_close_object(struct bs_json_writer *out);
void bs_json_open_array(struct bs_json_writer *out);
void bs_json_close_array(struct bs_json_writer *out);

/* Write the name of the next member. It must not contain characters that need an escape; write any
 * other name with bs_json_open_string and bs_json_close_key. */
void bs_json_put_key(struct bs_json_writer *out, const char *name);

/* Write a string. Here and below, text must be UTF-8. */
void bs_json_put_string(struct bs_json_writer *out, const char *text, size_t len);
void bs_json_put_text(struct bs_json_writer *out, const char *text); /* ends with a NUL */

/* Write bytes as a string. Each ill-formed sequence becomes one U+FFFD, as in boxspec/bytes.h. */
void bs_json_put_lossy(struct bs_json_writer *out, const char *bytes, size_t len);

void bs_json_put_u64(struct bs_json_writer *out, uint64_t value);
void bs_json_put_bool(struct bs_json_writer *out, bool value);
void bs_json_put_null(struct bs_json_writer *out);

/* Write a value that is JSON text already. */
void bs_json_put_value(struct bs_json_writer *out, const char *json, size_t len);

/* Write the finished value of another writer. If that writer has failed, this one fails too. */
void bs_json_put_written(struct bs_json_writer *out, const struct bs_json_writer *written);

/* Write one string in several pieces. bs_json_close_string ends a value, bs_json_close_key the name
 * of a member. */
void bs_json_open_string(struct bs_json_writer *out);
void bs_json_add_text(struct bs_json_writer *out, const char *text, size_t len);
void bs_json_add_lossy(struct bs_json_writer *out, const char *bytes, size_t len);
void bs_json_close_string(struct bs_json_writer *out);
void bs_json_close_key(struct bs_json_writer *out); /* for the name of a member */

/* End the line after a finished value. Another value may follow on the next line. */
void bs_json_end_line(struct bs_json_writer *out);

/* Empty the writer but keep its memory for the next text. */
void bs_json_writer_reset(struct bs_json_writer *out);
void bs_json_writer_clear(struct bs_json_writer *out);

/* Append a JSON string literal, with its quotes, to a text that was not made by a
 * bs_json_writer. */
void bs_json_quote(struct bs_buf *out, const char *text, size_t len);

#endif
