#define _GNU_SOURCE
#include "shim/decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bs_decoder_clear(struct bs_decoder *decoder) {
    for (size_t i = 0; i < decoder->n_blocks; i++)
        free(decoder->blocks[i]);
    free(decoder->blocks);
    bs_buf_clear(&decoder->problems);
    memset(decoder, 0, sizeof *decoder);
}

bool bs_decoder_failed(const struct bs_decoder *decoder) {
    return decoder->problems.len > 0 || bs_decoder_out_of_memory(decoder);
}

bool bs_decoder_out_of_memory(const struct bs_decoder *decoder) {
    return decoder->out_of_memory || decoder->problems.failed;
}

void *bs_decoder_keep(struct bs_decoder *decoder, void *block) {
    if (block == NULL) {
        decoder->out_of_memory = true;
        return NULL;
    }
    if (decoder->n_blocks == decoder->cap_blocks) {
        size_t cap = decoder->cap_blocks > 0 ? decoder->cap_blocks * 2 : 32;
        void **grown = realloc(decoder->blocks, cap * sizeof *grown);
        if (grown == NULL) {
            decoder->out_of_memory = true;
            free(block);
            return NULL;
        }
        decoder->blocks = grown;
        decoder->cap_blocks = cap;
    }
    decoder->blocks[decoder->n_blocks++] = block;
    return block;
}

void bs_problem(struct bs_decoder *decoder, const char *pointer, const char *format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    bs_buf_add(&decoder->problems, pointer, strlen(pointer) + 1);
    bs_buf_add(&decoder->problems, message, strlen(message) + 1);
}

void bs_decoder_put_problems(const struct bs_decoder *decoder, struct bs_json_writer *out) {
    const struct bs_buf *problems = &decoder->problems;
    bs_json_open_array(out);
    for (size_t at = 0; at < problems->len;) {
        const char *pointer = problems->data + at;
        const char *message = pointer + strlen(pointer) + 1;
        bs_json_open_object(out);
        bs_json_put_key(out, "pointer");
        bs_json_put_text(out, pointer);
        bs_json_put_key(out, "message");
        bs_json_put_text(out, message);
        bs_json_close_object(out);
        at = (size_t)(message - problems->data) + strlen(message) + 1;
    }
    bs_json_close_array(out);
}

void bs_decoder_put_first_problem(const struct bs_decoder *decoder, struct bs_json_writer *out) {
    static const char whole[] = "the request";
    const char *pointer = decoder->problems.data;
    const char *message = pointer + strlen(pointer) + 1;
    const char *place = pointer[0] != '\0' ? pointer : whole;
    bs_json_open_string(out);
    bs_json_add_text(out, place, strlen(place));
    bs_json_add_text(out, ": ", 2);
    bs_json_add_text(out, message, strlen(message));
    bs_json_close_string(out);
}

const char *bs_below(char *buf, const char *pointer, const char *name) {
    (void)snprintf(buf, BS_POINTER_MOST, "%.180s/%.70s", pointer, name);
    return buf;
}

const char *bs_below_index(char *buf, const char *pointer, size_t index) {
    (void)snprintf(buf, BS_POINTER_MOST, "%.180s/%zu", pointer, index);
    return buf;
}

static bool is_known(const char *const *known, const char *name) {
    for (; *known != NULL; known++) {
        if (strcmp(*known, name) == 0)
            return true;
    }
    return false;
}

void bs_refuse_unknown(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                       const char *const *known) {
    const cJSON *member = NULL;
    cJSON_ArrayForEach(member, object) {
        if (is_known(known, member->string))
            continue;
        char name[64];
        char at[BS_POINTER_MOST];
        /* The name comes from the request: the message has only its printable ASCII characters. */
        size_t n = 0;
        for (const char *c = member->string; *c != '\0' && n + 1 < sizeof name; c++)
            name[n++] = *c > ' ' && *c < 0x7F ? *c : '?';
        name[n] = '\0';
        bs_problem(decoder, bs_below(at, pointer, name), "unknown field `%s`", name);
    }
}

char *bs_decode_bytes(struct bs_decoder *decoder, const cJSON *item, const char *pointer,
                      bool base64, size_t *len) {
    bool is_string = false;
    size_t text_len = 0;
    char *text = bs_json_bytes(item, &text_len, &is_string);
    if (!is_string) {
        bs_problem(decoder, pointer, "must be a string");
        return NULL;
    }
    if (bs_decoder_keep(decoder, text) == NULL)
        return NULL;
    if (!base64) {
        *len = text_len;
        return text;
    }
    if (!bs_base64_decode(text, text_len, len)) {
        bs_problem(decoder, pointer, "is not Base64 (RFC 4648, with padding, no line breaks)");
        return NULL;
    }
    return text;
}

static const cJSON *member(const cJSON *object, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

const cJSON *bs_decode_either(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                              const char *name, bool *base64, char *at) {
    char other[64];
    (void)snprintf(other, sizeof other, "%s_b64", name);
    const cJSON *plain = member(object, name);
    const cJSON *encoded = member(object, other);
    *base64 = encoded != NULL;
    (void)bs_below(at, pointer, encoded != NULL ? other : name);
    if (plain != NULL && encoded != NULL)
        bs_problem(decoder, at, "give `%s` or `%s`, not both", name, other);
    return encoded != NULL ? encoded : plain;
}

const char *bs_decode_string(struct bs_decoder *decoder, const cJSON *item, const char *pointer,
                             bool base64) {
    size_t len = 0;
    const char *text = bs_decode_bytes(decoder, item, pointer, base64, &len);
    if (text != NULL && strlen(text) != len && decoder->nul_in[0] == '\0')
        (void)snprintf(decoder->nul_in, sizeof decoder->nul_in, "%.100s", pointer);
    return text;
}

const char *bs_decode_text(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                           const char *name, bool required) {
    char at[BS_POINTER_MOST];
    bool base64 = false;
    const cJSON *item = bs_decode_either(decoder, object, pointer, name, &base64, at);
    if (item != NULL)
        return bs_decode_string(decoder, item, at, base64);
    if (required)
        bs_problem(decoder, at, "`%s` (or `%s_b64`) is missing", name, name);
    return NULL;
}

void bs_refuse_nul(struct bs_decoder *decoder) {
    if (decoder->nul_in[0] != '\0')
        bs_problem(decoder, decoder->nul_in, "holds a NUL byte");
}

bool bs_decode_u64(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                   const char *name, uint64_t *value) {
    const cJSON *item = member(object, name);
    char at[BS_POINTER_MOST];
    if (item == NULL)
        return false;
    if (bs_json_u64(item, value))
        return true;
    bs_problem(decoder, bs_below(at, pointer, name),
               "must be an integer from 0 to 18446744073709551615");
    return false;
}

bool bs_decode_bool(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                    const char *name) {
    const cJSON *item = member(object, name);
    char at[BS_POINTER_MOST];
    if (item != NULL && !cJSON_IsBool(item))
        bs_problem(decoder, bs_below(at, pointer, name), "must be true or false");
    return cJSON_IsTrue(item);
}

bool bs_is_word(const cJSON *item, const char *word) {
    return cJSON_IsString(item) && strcmp(item->valuestring, word) == 0;
}

const char *const *bs_decode_strings(struct bs_decoder *decoder, const cJSON *object,
                                     const char *pointer, const char *name, size_t *n) {
    char at[BS_POINTER_MOST];
    bool base64 = false;
    const cJSON *list = bs_decode_either(decoder, object, pointer, name, &base64, at);
    *n = 0;
    if (list == NULL)
        return NULL;
    if (!cJSON_IsArray(list)) {
        bs_problem(decoder, at, "must be an array of strings");
        return NULL;
    }
    size_t size = (size_t)cJSON_GetArraySize(list);
    const char **texts = bs_decoder_keep(decoder, calloc(size + 1, sizeof *texts));
    if (texts == NULL)
        return NULL;
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, list) {
        char item_at[BS_POINTER_MOST];
        texts[*n] = bs_decode_string(decoder, item, bs_below_index(item_at, at, *n), base64);
        (*n)++;
    }
    return texts;
}
