/* Decides whether a profile text allows a program to write to the file that holds this text. */
#ifndef BOXSPEC_SBPL_WRITABLE_H
#define BOXSPEC_SBPL_WRITABLE_H

#include <stdbool.h>
#include <stddef.h>

/* True if the last clause of the text about writing to `path` allows it. `path` is absolute and
 * without links. A filter that is unknown here matches in an allow and not in a deny, so that the
 * answer errs towards true. */
bool bs_sbpl_may_write(const char *text, size_t len, const char *path);

#endif
