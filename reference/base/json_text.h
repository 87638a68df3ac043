/* Checks a JSON text against RFC 8259, in one pass, before it is read. It decodes nothing.
 *
 * Both readers of JSON start with it: base/json.h gives the checked text to cJSON; the reader of
 * policies (policy/file/json.c) needs the position of each value and uses these instead of a tree.
 */
#ifndef BS_BASE_JSON_TEXT_H
#define BS_BASE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define BS_JSON_MOST_DEPTH 64

/* A position in the text at which a member name or a value begins. */
struct bs_json_place {
    uint32_t at;     /* bytes from the start */
    uint32_t line;   /* from 1; LF, CR LF and a lone CR end a line */
    uint32_t column; /* from 1, in code points */
    uint32_t len;    /* string: bytes between its quotes, or BS_JSON_ESCAPED if it has escapes;
                      * number, literal: bytes; container: places inside it */
};

#define BS_JSON_ESCAPED UINT32_MAX

/* A number that a double may not hold as it is written: it has a fraction, an exponent, or more
 * than 15 characters. */
struct bs_json_number {
    size_t index; /* among all numbers of the text */
    size_t at;
    size_t len;
};

/* Stands for a NUL in a string of cJSON, which would end there. No UTF-8 text has this byte. */
#define BS_JSON_NUL '\xFF'

struct bs_json_text {
    const char *text; /* borrowed */
    size_t len;
    bool wants_places;          /* and no numbers; the text must be shorter than 4 GiB */
    bool refuses_nul;           /* `\u0000` is refused */
    unsigned around;            /* levels that enclose the value, beyond BS_JSON_MOST_DEPTH */
    struct bs_json_place *lent; /* the caller's, for the first places: most texts need no more */
    size_t n_lent;

    /* The text for cJSON where it differs: BS_JSON_NUL for each `\u0000`, and 0 for a number that
     * is too long for cJSON. Empty if it does not differ. */
    struct bs_buf rewritten;
    struct bs_json_number *numbers;
    size_t n_numbers;
    struct bs_json_place *places; /* of every name and value, in their order */
    size_t n_places;
    size_t at;           /* offset of the error */
    const char *problem; /* static */
};

/* True if the text is JSON; else `at` and `problem` are set, and problem is BS_JSON_NO_MEMORY if
 * memory ran out. Call bs_json_text_clear in both cases. */
bool bs_json_check(struct bs_json_text *json);
void bs_json_text_clear(struct bs_json_text *json);

extern const char BS_JSON_NO_MEMORY[];

#endif
