/* JSON in: cJSON behind a strict recogniser. cJSON alone takes trailing garbage, duplicate keys,
 * `01`, control characters and invalid UTF-8, cuts strings at \u0000 and rounds integers above
 * 2^53. Here all of that is refused with its place or kept exactly.
 *
 * JSON out: appended by hand to a buffer; printing a tree costs more than everything else together.
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
    bool out_of_memory; /* nothing is known about the text then */
};

/* Returns a tree to be freed with cJSON_Delete, or NULL with *err filled. */
cJSON *bs_json_parse(const char *text, size_t len, struct bs_json_error *err);

/* The same for a text that has a value of as many levels inside so many others. */
cJSON *bs_json_parse_around(const char *text, size_t len, unsigned around,
                            struct bs_json_error *err);

/* False for the long and the fractional numbers, too, that cJSON was given as strings. */
bool bs_json_is_string(const cJSON *item);

/* A string in place, for as long as the tree lives. NULL: not a string, or one that holds a NUL. */
const char *bs_json_view(const cJSON *item, size_t *len);

/* A string's bytes, NUL included: into a malloc'd block with a closing NUL. NULL: not a string, or
 * no memory (*is_string tells which). */
char *bs_json_bytes(const cJSON *item, size_t *len, bool *is_string);

/* An integer from 0 to 2^64-1, written without fraction and exponent. */
bool bs_json_u64(const cJSON *item, uint64_t *value);

/* The text of a tree that bs_json_parse made, numbers as they were written. `failed` of the buffer
 * says that memory ran out. */
void bs_json_put_tree(struct bs_json_writer *out, const cJSON *item);

void bs_json_put_base64(struct bs_json_writer *out, const void *data, size_t len);

/* The same literal, with its quotes, in a text that no writer writes. */
void bs_json_quote_base64(struct bs_buf *out, const void *data, size_t len);

/* In place, with a NUL behind the last byte. Strict: padding, no white space, no stray bits. False
 * when it is not Base64; the text is spoilt then. */
bool bs_base64_decode(char *text, size_t text_len, size_t *len);

#endif
