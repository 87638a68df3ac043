/* Checks whether a text is JSON. This is a typical parser, as an example for the harness.
 *
 * TINY_JSON_OVERREADS, TINY_JSON_TAKES_ANY_TAIL, TINY_JSON_REFUSES_TABS and TINY_JSON_COUNTS each
 * add a mistake. A test of the kit finds each of them. */
#ifndef TINY_JSON_H
#define TINY_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* True if the text is JSON. The text need not end in a NUL. */
bool tiny_json_is_valid(const char *text, size_t len);

#endif
