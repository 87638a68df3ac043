/* Decodes the members of a request. Each problem is noted with its JSON pointer and decoding goes
 * on, so that one answer names all problems. */
#ifndef BS_SHIM_DECODE_H
#define BS_SHIM_DECODE_H

#include <stdbool.h>

#include "base/json.h"

struct bs_decoder {
    struct bs_buf problems; /* pointer, NUL, message, NUL of each */
    void **blocks;          /* decoded values, freed together */
    size_t n_blocks;
    size_t cap_blocks;
    bool out_of_memory;
    char nul_in[128]; /* pointer of the first string with a NUL, or empty */
};

void bs_decoder_clear(struct bs_decoder *decoder);
bool bs_decoder_failed(const struct bs_decoder *decoder);

/* If true, decoded values and problems may be incomplete. */
bool bs_decoder_out_of_memory(const struct bs_decoder *decoder);

void bs_problem(struct bs_decoder *decoder, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An array of {"pointer": ..., "message": ...}. */
void bs_decoder_put_problems(const struct bs_decoder *decoder, struct bs_json_writer *out);

/* The first problem as one sentence. There must be one. */
void bs_decoder_put_first_problem(const struct bs_decoder *decoder, struct bs_json_writer *out);

/* Notes every member of `object` that is not in the NULL-terminated list. */
void bs_refuse_unknown(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                       const char *const *known);

/* Return the string `name`, or what `name_b64` encodes. It should have no NUL, where a C string
 * ends; nul_in notes the first NUL. NULL when absent or wrong. */
const char *bs_decode_text(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                           const char *name, bool required);

/* The same for an item. */
const char *bs_decode_string(struct bs_decoder *decoder, const cJSON *item, const char *pointer,
                             bool base64);

/* The same for a list of strings, with a NULL after the last one. NULL when absent or not a list.
 */
const char *const *bs_decode_strings(struct bs_decoder *decoder, const cJSON *object,
                                     const char *pointer, const char *name, size_t *n);

/* Turns a NUL in one of these strings into a problem. Not called if the NUL is to be a failed
 * spawn. */
void bs_refuse_nul(struct bs_decoder *decoder);

enum { BS_POINTER_MOST = 256 };

/* Write the pointer of a member or an element to buf, which has BS_POINTER_MOST bytes; return buf.
 */
const char *bs_below(char *buf, const char *pointer, const char *name);
const char *bs_below_index(char *buf, const char *pointer, size_t index);

/* Return the member `name` or `name_b64`, and its pointer in `at`; NULL when absent. Both at once
 * are a problem. */
const cJSON *bs_decode_either(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                              const char *name, bool *base64, char *at);

/* Return the bytes of a string or, with base64, the bytes that it encodes; a NUL follows them. NULL
 * when wrong. */
char *bs_decode_bytes(struct bs_decoder *decoder, const cJSON *item, const char *pointer,
                      bool base64, size_t *len);

bool bs_is_word(const cJSON *item, const char *word);

/* Owns a block until the decoder is cleared. Returns it; if it is NULL, memory ran out, which is
 * noted. */
void *bs_decoder_keep(struct bs_decoder *decoder, void *block);

/* False when absent or wrong. */
bool bs_decode_bool(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                    const char *name);

bool bs_decode_u64(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                   const char *name, uint64_t *value);

#endif
