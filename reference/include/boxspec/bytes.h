/* Bytes that the library returns to its caller.
 *
 * A struct bs_bytes owns `data` (malloc). Start from BS_BYTES_INIT and end with bs_bytes_clear,
 * which may be called any number of times. `data` may be NULL if `len` is 0; otherwise a NUL,
 * not counted in `len`, follows the last byte. Not locked: one thread at a time.
 */
#ifndef BOXSPEC_BYTES_H
#define BOXSPEC_BYTES_H

#include <stddef.h>

#include <boxspec/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bs_bytes {
    char *data;
    size_t len; /* bytes */
};

#define BS_BYTES_INIT                                                                              \
    { 0, 0 }

BS_EXPORT void bs_bytes_clear(struct bs_bytes *bytes);

/* Turn bytes into UTF-8 text in place: one U+FFFD replaces each maximal subpart of an ill-formed
 * sequence (Unicode 15, section 3.9, "Substitution of Maximal Subparts"). Well-formed text is not
 * copied. Returns 0, or BS_E_EXECUTION with the bytes unchanged if memory ran out. */
BS_EXPORT int bs_bytes_to_text(struct bs_bytes *bytes);

#ifdef __cplusplus
}
#endif
#endif
