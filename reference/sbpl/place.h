/* Absolute paths that the caller gives: the root, side roots and variables. */
#ifndef BS_SBPL_PLACE_H
#define BS_SBPL_PLACE_H

#include <stdbool.h>

#include <boxspec/bytes.h>

/* Copy `given` without doubled and trailing slashes; `/` stays. Messages call the path `field`.
 * Returns 0; BS_E_INVALID if the path is not absolute and canonical, is not UTF-8, has control
 * characters or lies under a link that every Mac has; BS_E_EXECUTION if memory ran out. */
int bs_place_make(const char *field, const char *given, struct bs_bytes *place,
                  struct bs_error *err);

/* True if `b` is `a` or lies below `a`. */
bool bs_place_holds(const struct bs_bytes *a, const struct bs_bytes *b);

#endif
