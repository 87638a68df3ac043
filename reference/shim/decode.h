/* What the operations of a shim read out of a request. Every problem is noted with its JSON
 * pointer; decoding goes on, so that one answer names them all. */
#ifndef BS_SHIM_DECODE_H
#define BS_SHIM_DECODE_H

#include <stdbool.h>

#include "base/json.h"

struct bs_decoder {
    struct bs_buf problems; /* pointer, NUL, message, NUL of each */
    void **blocks;          /* everything that was decoded, freed together */
    size_t n_blocks;
    size_t cap_blocks;
    bool out_of_memory;
    char nul_in[128]; /* which string of a program call holds a NUL, empty for none */
};

void bs_decoder_clear(struct bs_decoder *decoder);
bool bs_decoder_failed(const struct bs_decoder *decoder);

/* What was decoded, and what was noted about it, is not to be believed. */
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

/* Strings that must not hold a NUL, because the system ends them there: `name` or its `_b64` twin.
 * NULL when absent or wrong. `what` names it for people. */
const char *bs_decode_text(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                           const char *name, bool required);

/* The same for a string that is at hand. */
const char *bs_decode_string(struct bs_decoder *decoder, const cJSON *item, const char *pointer,
                             bool base64);

/* The same for a list of them, with a NULL behind the last. NULL when absent or no list. */
const char *const *bs_decode_strings(struct bs_decoder *decoder, const cJSON *object,
                                     const char *pointer, const char *name, size_t *n);

/* A NUL in any of them is a problem of the request, where no program call is to fail by it. */
void bs_refuse_nul(struct bs_decoder *decoder);

enum { BS_POINTER_MOST = 256 };

/* The pointer of a member: written to buf, which has BS_POINTER_MOST bytes, and returned. */
const char *bs_below(char *buf, const char *pointer, const char *name);
const char *bs_below_index(char *buf, const char *pointer, size_t index);

/* `name` or its `_b64` twin, and its pointer in `at`; NULL when absent. Both at once are a
 * problem. */
const cJSON *bs_decode_twin(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                            const char *name, bool *base64, char *at);

/* The bytes of a string or, with base64, what it encodes; any bytes, a NUL behind them. NULL when
 * wrong. */
char *bs_decode_bytes(struct bs_decoder *decoder, const cJSON *item, const char *pointer,
                      bool base64, size_t *len);

bool bs_is_word(const cJSON *item, const char *word);

/* Keeps a block until the decoder goes. Takes it over; NULL notes that memory ran out. */
void *bs_decoder_keep(struct bs_decoder *decoder, void *block);

/* False when absent or wrong. */
bool bs_decode_bool(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                    const char *name);

bool bs_decode_u64(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                   const char *name, uint64_t *value);

#endif
