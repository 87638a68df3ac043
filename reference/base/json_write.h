/* Writes JSON. The writer adds commas and escapes; the caller opens containers, writes values and
 * closes containers, in order. It must write a key before each value of an object.
 *
 *     bs_json_open_object(&out);
 *     bs_json_put_key(&out, "path");
 *     bs_json_put_text(&out, path);
 *     bs_json_close_object(&out);
 *
 * There is no tree to print: building one costs more than the rest of an answer. Running out of
 * memory is noted in text.failed; later calls do nothing, so a caller checks it once at the end.
 */
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

/* The name of the next member, in characters that need no escape; another name is a string in
 * pieces. */
void bs_json_put_key(struct bs_json_writer *out, const char *name);

/* Text must be UTF-8, here and below. */
void bs_json_put_string(struct bs_json_writer *out, const char *text, size_t len);
void bs_json_put_text(struct bs_json_writer *out, const char *text); /* ends with a NUL */

/* Bytes: each ill-formed sequence becomes one U+FFFD, as in boxspec/bytes.h. */
void bs_json_put_lossy(struct bs_json_writer *out, const char *bytes, size_t len);

void bs_json_put_u64(struct bs_json_writer *out, uint64_t value);
void bs_json_put_bool(struct bs_json_writer *out, bool value);
void bs_json_put_null(struct bs_json_writer *out);

/* A whole value that is JSON text already. */
void bs_json_put_value(struct bs_json_writer *out, const char *json, size_t len);

/* A whole value of another writer; its failure becomes this writer's. */
void bs_json_put_written(struct bs_json_writer *out, const struct bs_json_writer *written);

/* One string in several pieces. A string from open_string ends with one of the two closes. */
void bs_json_open_string(struct bs_json_writer *out);
void bs_json_add_text(struct bs_json_writer *out, const char *text, size_t len);
void bs_json_add_lossy(struct bs_json_writer *out, const char *bytes, size_t len);
void bs_json_close_string(struct bs_json_writer *out);
void bs_json_close_key(struct bs_json_writer *out); /* the string is the name of a member */

/* Ends the line after a whole value; another value may follow on the next one. */
void bs_json_end_line(struct bs_json_writer *out);

/* Empties the writer but keeps its memory. */
void bs_json_writer_reset(struct bs_json_writer *out);
void bs_json_writer_clear(struct bs_json_writer *out);

/* A string literal, with its quotes, in a text that no writer writes. */
void bs_json_quote(struct bs_buf *out, const char *text, size_t len);

#endif
