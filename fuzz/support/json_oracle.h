/* A second reader of JSON, RFC 8259 to the letter, by a table of states and bytes. It shares no
 * line and no idea with the recogniser of the reference, which descends from function to function:
 * what both take is JSON, and where they differ one of them is wrong. */
#ifndef BS_FUZZ_JSON_ORACLE_H
#define BS_FUZZ_JSON_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#include "support/pool.h"
#include "support/text_oracle.h"

enum { BS_FUZZ_JSON_DEPTH = 64 };

struct bs_fuzz_json {
    struct bs_fuzz_node *root; /* NULL: this is not JSON */

    /* Of a text that is not JSON. A good reader may point anywhere into the word that is wrong, or
     * at bytes that are not UTF-8 wherever they stand. */
    size_t at;    /* the first byte behind which nothing can mend the text; its length at the end */
    size_t word;  /* where the string, number or name begins that this byte is in; else at */
    size_t alien; /* the first byte that is not UTF-8, or SIZE_MAX */
};

/* `takes_nul`: whether a string may hold an escaped NUL. */
void bs_fuzz_json_read(const char *text, size_t len, bool takes_nul, struct bs_fuzz_pool *pool,
                       struct bs_fuzz_json *json);

#endif
