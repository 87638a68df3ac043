/* The recogniser of JSON texts, RFC 8259 to the letter, in one pass and without recursion beyond
 * its depth limit. It decodes nothing: cJSON reads the text afterwards, or the strings that have
 * escapes, and meets neither trailing garbage nor `01` nor anything else that it would take in
 * silence.
 *
 * What cJSON cannot hold is handed through it in bytes that UTF-8 never has. Only a text with such
 * a place in it is copied.
 */
#ifndef BS_BASE_JSON_TEXT_H
#define BS_BASE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define BS_JSON_MOST_DEPTH 64

/* A NUL inside a string becomes FF; an integer of more than 15 digits becomes a string that starts
 * with FE; a number with a fraction or an exponent becomes one that starts with FD, or 1.0 could
 * not be told from 1. */
enum { BS_JSON_NUL_MARK = 0xFF, BS_JSON_INTEGER_MARK = 0xFE, BS_JSON_REAL_MARK = 0xFD };

/* Where a member name or a value begins. */
struct bs_json_place {
    uint32_t at;     /* bytes from the start */
    uint32_t line;   /* from 1; LF, CR LF and a lone CR end a line */
    uint32_t column; /* from 1, in code points */
    uint32_t len; /* bytes between the quotes of a string without escapes, else BS_JSON_ESCAPED */
};

#define BS_JSON_ESCAPED UINT32_MAX

struct bs_json_text {
    const char *text; /* borrowed */
    size_t len;
    bool wants_places;          /* and no marks; the text must be shorter than 4 GiB then */
    bool refuses_nul;           /* `\u0000` is refused */
    unsigned around;            /* levels beyond BS_JSON_MOST_DEPTH: what stands around a value */
    struct bs_json_place *lent; /* the caller's, for the first places: most texts need no more */
    size_t n_lent;

    struct bs_buf marked;         /* what cJSON is to read instead; empty where nothing is marked */
    struct bs_json_place *places; /* of every name and value in their order */
    size_t n_places;
    size_t at;           /* where it was refused */
    const char *problem; /* why, static */
};

/* False with at and problem, which is BS_JSON_NO_MEMORY when that is why. The outcome is to be
 * cleared in both cases. */
bool bs_json_recognise(struct bs_json_text *json);
void bs_json_text_clear(struct bs_json_text *json);

extern const char BS_JSON_NO_MEMORY[];

#endif
