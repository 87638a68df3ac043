/* A second JSON reader for strict RFC 8259, built as a table of states and bytes. It shares neither
 * code nor method with the reference, which recognises JSON by recursive descent. If the two differ
 * about a text, one of them is wrong. */
#ifndef BS_FUZZ_JSON_ORACLE_H
#define BS_FUZZ_JSON_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#include "support/pool.h"
#include "support/text_oracle.h"

enum { BS_FUZZ_JSON_DEPTH = 64 };

struct bs_fuzz_json {
    struct bs_fuzz_node *root; /* NULL: this is not JSON */

    /* The following fields are set if the text is not JSON. A correct reader may report any
     * position in the wrong token, or an invalid UTF-8 byte anywhere. */
    /* the first byte after which no continuation is valid JSON; the length of the text if only its
     * end is wrong */
    size_t at;
    size_t word;  /* start of the string, number or name in which this byte is; otherwise `at` */
    size_t alien; /* the first byte that is not UTF-8, or SIZE_MAX */
};

/* Read a text. If `takes_nul` is true, a string may have an escaped NUL. */
void bs_fuzz_json_read(const char *text, size_t len, bool takes_nul, struct bs_fuzz_pool *pool,
                       struct bs_fuzz_json *json);

#endif
