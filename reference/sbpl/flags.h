/* Removes the sandbox flags from the command of a provider (codex, claude, gemini), because this
 * sandbox replaces the provider's own. */
#ifndef BS_SBPL_FLAGS_H
#define BS_SBPL_FLAGS_H

#include <stddef.h>

#include <boxspec/sbpl.h>

enum { BS_FLAGS_MORE = 2 }; /* largest number of words that are added */

/* Write to `out` the words of the command that the provider gets under the wrapper. The table in
 * the contract, conformance/contracts/sbpl/page.md, says which flags are removed or added. Returns
 * the number of words. */
size_t bs_flags_neutralize(enum bs_provider provider, const char *const *argv, size_t n,
                           const char **out);

#endif
