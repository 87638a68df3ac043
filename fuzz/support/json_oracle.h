/* A second JSON reader, strict RFC 8259, as a table of states and bytes. It shares no code and no
 * method with the recursive descent recogniser of the reference. Text that both accept is JSON;
 * where they differ, one of them is wrong. */
#ifndef BS_FUZZ_JSON_ORACLE_H
#define BS_FUZZ_JSON_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#include "support/pool.h"
#include "support/text_oracle.h"

enum { BS_FUZZ_JSON_DEPTH = 64 };

struct bs_fuzz_json {
    struct bs_fuzz_node *root; /* NULL: this is not JSON */

    /* Set if the text is not JSON. A correct reader may report any position in the wrong token, or
     * an invalid UTF-8 byte anywhere. */
    size_t at;    /* first byte after which no continuation is valid JSON; the length for the end */
    size_t word;  /* start of the string, number or name that this byte is in; else `at` */
    size_t alien; /* the first byte that is not UTF-8, or SIZE_MAX */
};

/* `takes_nul`: a string may hold an escaped NUL. */
void bs_fuzz_json_read(const char *text, size_t len, bool takes_nul, struct bs_fuzz_pool *pool,
                       struct bs_fuzz_json *json);

#endif
