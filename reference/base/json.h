/* Reads JSON: base/json_text.h checks the text, then cJSON parses it.
 *
 * cJSON by itself accepts trailing text, repeated member names, `01`, control characters and
 * invalid UTF-8, and reports only where it stopped. The check refuses all of these with line and
 * column, except repeated names, which are found in the tree. So cJSON gets a text that is known to
 * be JSON. The check takes 4 of the 21 ms in which 16 MiB of Base64 are parsed.
 *
 * The tree is an ordinary cJSON tree. It has two things that cJSON does not put there, because its
 * own fields cannot hold the value:
 *   - A number has its text in `valuestring` unless it is an integer of at most 15 characters.
 *     cJSON leaves that field NULL for numbers, and frees it. `valuedouble` is rounded as usual,
 *     and 0 for a number of more than 63 bytes.
 *   - A NUL in a string or a name is the byte FF. bs_json_bytes returns the real bytes.
 */
#ifndef BS_BASE_JSON_H
#define BS_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "base/buf.h"
#include "base/json_text.h"
#include "base/json_write.h"

struct bs_json_error {
    size_t line; /* base/position.h */
    size_t column;
    char message[128];
    bool out_of_memory; /* the text was not checked to its end */
};

/* Return a tree for cJSON_Delete, or NULL with *err filled. */
cJSON *bs_json_parse(const char *text, size_t len, struct bs_json_error *err);

/* The same, with `around` more levels allowed: for a text that encloses a value of a caller. */
cJSON *bs_json_parse_around(const char *text, size_t len, unsigned around,
                            struct bs_json_error *err);

/* Return the text of a string in place, valid as long as the tree. NULL: not a string, or a NUL is
 * in it. */
const char *bs_json_view(const cJSON *item, size_t *len);

/* Return the bytes of a string, with any NUL, in a malloc'd block that ends with another NUL. NULL:
 * not a string, or no memory (*is_string tells which). */
char *bs_json_bytes(const cJSON *item, size_t *len, bool *is_string);

/* True for an integer from 0 to 2^64-1 that is written without fraction and exponent. */
bool bs_json_u64(const cJSON *item, uint64_t *value);

/* Writes a tree of bs_json_parse, numbers as they were written. */
void bs_json_put_tree(struct bs_json_writer *out, const cJSON *item);

void bs_json_put_base64(struct bs_json_writer *out, const void *data, size_t len);

/* The same literal, with its quotes, in a text that no writer writes. */
void bs_json_quote_base64(struct bs_buf *out, const void *data, size_t len);

/* Decodes in place and ends with a NUL. Strict: padding is needed, white space and stray bits are
 * refused. False if the text is not Base64; it is overwritten then. */
bool bs_base64_decode(char *text, size_t text_len, size_t *len);

#endif
