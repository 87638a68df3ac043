/* Removes the sandbox flags of the providers, because this sandbox replaces theirs. */
#ifndef BS_SBPL_FLAGS_H
#define BS_SBPL_FLAGS_H

#include <stddef.h>

#include <boxspec/sbpl.h>

enum { BS_FLAGS_MORE = 2 }; /* the most words that are added */

/* Writes the words of a command to `out` as the provider gets them under the wrapper, by the table
 * of the contract, conformance/contracts/sbpl/page.md. Returns their number. */
size_t bs_flags_neutralize(enum bs_provider provider, const char *const *argv, size_t n,
                           const char **out);

#endif
