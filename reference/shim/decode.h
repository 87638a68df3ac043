/* Decodes the members of a request. Each problem is recorded with its JSON pointer, and decoding
 * continues, so that one answer lists all problems. */
#ifndef BS_SHIM_DECODE_H
#define BS_SHIM_DECODE_H

#include <stdbool.h>

#include "base/json.h"

struct bs_decoder {
    struct bs_buf problems; /* for each problem its pointer, NUL, its message, NUL */
    void **blocks;          /* memory of decoded values, freed with the decoder */
    size_t n_blocks;
    size_t cap_blocks;
    bool out_of_memory;
    char nul_in[128]; /* pointer of the first string that contains a NUL, or empty */
};

void bs_decoder_clear(struct bs_decoder *decoder);
bool bs_decoder_failed(const struct bs_decoder *decoder);

/* True if memory ran out. Decoded values and problems may be incomplete then. */
bool bs_decoder_out_of_memory(const struct bs_decoder *decoder);

void bs_problem(struct bs_decoder *decoder, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Write an array of {"pointer": ..., "message": ...}. */
void bs_decoder_put_problems(const struct bs_decoder *decoder, struct bs_json_writer *out);

/* Write the first problem as one sentence. There must be a problem. */
void bs_decoder_put_first_problem(const struct bs_decoder *decoder, struct bs_json_writer *out);

/* Report every member of `object` that is not in the NULL-terminated list `known`. */
void bs_refuse_unknown(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                       const char *const *known);

/* Return the string `name`, or the decoded value of `name_b64`. NULL if the member is absent or
 * wrong. The text should not contain a NUL, at which a C string ends; nul_in records the first
 * string that does. */
const char *bs_decode_text(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                           const char *name, bool required);

/* As bs_decode_text, for an element of an array. */
const char *bs_decode_string(struct bs_decoder *decoder, const cJSON *item, const char *pointer,
                             bool base64);

/* As bs_decode_text, for a list of strings; a NULL follows the last one. The result is NULL if the
 * member is absent or not a list. */
const char *const *bs_decode_strings(struct bs_decoder *decoder, const cJSON *object,
                                     const char *pointer, const char *name, size_t *n);

/* If one of the decoded strings contains a NUL, report this as a problem. Operations that report a
 * NUL as a failed spawn do not call this function. */
void bs_refuse_nul(struct bs_decoder *decoder);

enum { BS_POINTER_MOST = 256 };

/* Write the pointer of a member or an element to `buf`, which has BS_POINTER_MOST bytes. Returns
 * `buf`. */
const char *bs_below(char *buf, const char *pointer, const char *name);
const char *bs_below_index(char *buf, const char *pointer, size_t index);

/* Return the member `name` or `name_b64`, with its pointer in `at`; NULL if both are absent. It is
 * a problem if both are present. */
const cJSON *bs_decode_either(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                              const char *name, bool *base64, char *at);

/* Return the bytes of a string, followed by a NUL. With `base64` the string is decoded. NULL if the
 * string is wrong. */
char *bs_decode_bytes(struct bs_decoder *decoder, const cJSON *item, const char *pointer,
                      bool base64, size_t *len);

bool bs_is_word(const cJSON *item, const char *word);

/* Make the decoder the owner of a block, and return the block. A `block` of NULL means that memory
 * ran out, which the decoder records. */
void *bs_decoder_keep(struct bs_decoder *decoder, void *block);

/* Return the value of a member; false if the member is absent or wrong. */
bool bs_decode_bool(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                    const char *name);

bool bs_decode_u64(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                   const char *name, uint64_t *value);

#endif
