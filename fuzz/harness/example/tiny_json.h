/* Whether a text is JSON: a parser as one meets it, for the examples of the harness.
 *
 * TINY_JSON_OVERREADS, TINY_JSON_TAKES_ANY_TAIL, TINY_JSON_REFUSES_TABS and TINY_JSON_COUNTS each
 * put a mistake into it, which a test of the kit has found. */
#ifndef TINY_JSON_H
#define TINY_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* No NUL needs to follow the text. */
bool tiny_json_is_valid(const char *text, size_t len);

#endif
