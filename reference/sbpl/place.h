/* Absolute paths from the caller: the root, side roots, variables. */
#ifndef BS_SBPL_PLACE_H
#define BS_SBPL_PLACE_H

#include <stdbool.h>

#include <boxspec/bytes.h>

/* Copy `given` without doubled and trailing slashes; `/` stays. Messages call the path `field`.
 * Returns 0; BS_E_INVALID if it is not an absolute canonical path in UTF-8 without control
 * characters, or if it lies under a link that every Mac has; BS_E_EXECUTION if memory ran out. */
int bs_place_make(const char *field, const char *given, struct bs_bytes *place,
                  struct bs_error *err);

/* True if b is a or lies below a. */
bool bs_place_holds(const struct bs_bytes *a, const struct bs_bytes *b);

#endif
