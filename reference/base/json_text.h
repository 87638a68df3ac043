/* Checks a JSON text against RFC 8259 in one pass, without decoding it.
 *
 * Both readers of JSON start with this check. base/json.h then gives the text to cJSON. The reader
 * of policies (policy/file/json.c) builds no tree: it uses the recorded place of each value. */
#ifndef BS_BASE_JSON_TEXT_H
#define BS_BASE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define BS_JSON_MOST_DEPTH 64

/* A position in the text at which a member name or a value begins. */
struct bs_json_place {
    uint32_t at;     /* offset in bytes from the start */
    uint32_t line;   /* from 1; LF, CR LF and a lone CR end a line */
    uint32_t column; /* from 1, in code points */
    /* of a string: bytes between its quotes, or BS_JSON_ESCAPED if it has escapes; of a number or
     * literal: its bytes; of a container: the number of places inside it */
    uint32_t len;
};

#define BS_JSON_ESCAPED UINT32_MAX

/* A number that a double may not represent exactly: it has a fraction, an exponent, or more than 15
 * characters. */
struct bs_json_number {
    size_t index; /* position among all numbers of the text, from 0 */
    size_t at;
    size_t len;
};

/* Replaces a NUL in the text for cJSON, whose strings end at a NUL. This byte cannot occur in
 * UTF-8. */
#define BS_JSON_NUL '\xFF'

struct bs_json_text {
    const char *text; /* not copied: the caller keeps it */
    size_t len;
    bool wants_places; /* record places instead of numbers; the text must be shorter than 4 GiB */
    bool refuses_nul;  /* treat `\u0000` as an error */
    /* number of levels beyond BS_JSON_MOST_DEPTH, for a message that encloses a value */
    unsigned around;
    /* memory of the caller for the first places; it suffices for most texts */
    struct bs_json_place *lent;
    size_t n_lent;

    /* The text to give to cJSON, if it must differ from `text`: BS_JSON_NUL for each `\u0000`, and
     * 0 for a number that is too long for cJSON. Empty if cJSON can read `text`. */
    struct bs_buf rewritten;
    struct bs_json_number *numbers;
    size_t n_numbers;
    struct bs_json_place *places; /* one for each name and value, in the order of the text */
    size_t n_places;
    size_t at;           /* offset of the error */
    const char *problem; /* a static string */
};

/* Return true if the text is JSON. Otherwise `at` and `problem` are set; problem is
 * BS_JSON_NO_MEMORY if memory ran out. Call bs_json_text_clear in both cases. */
bool bs_json_check(struct bs_json_text *json);
void bs_json_text_clear(struct bs_json_text *json);

extern const char BS_JSON_NO_MEMORY[];

#endif
