/* Check whether a text is JSON: a typical parser, as an example for the harness.
 *
 * TINY_JSON_OVERREADS, TINY_JSON_TAKES_ANY_TAIL, TINY_JSON_REFUSES_TABS and TINY_JSON_COUNTS each
 * add a mistake; a test of the kit finds each of them.
 */
#ifndef TINY_JSON_H
#define TINY_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* The text need not end in a NUL. */
bool tiny_json_is_valid(const char *text, size_t len);

#endif
