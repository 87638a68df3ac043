/* Decides whether a profile text allows a program to write to the file that holds this text. */
#ifndef BOXSPEC_SBPL_WRITABLE_H
#define BOXSPEC_SBPL_WRITABLE_H

#include <stdbool.h>
#include <stddef.h>

/* True if the last clause about writing to `path` allows it. `path` is absolute and without links.
 * If this reader does not know a filter, it counts as matching in an allow and as not matching in a
 * deny. So the answer may be wrongly true, but not wrongly false. */
bool bs_sbpl_may_write(const char *text, size_t len, const char *path);

#endif
