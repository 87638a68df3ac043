/* Writes text between the quotes of a string, and literal text in a regular expression
 * (SBPL-NAME-01 to -04).
 *
 * Two parts exist only for speed: bs_spell_look, which examines 16 bytes at once, and the table
 * struct bs_spelled. The goal is that compiling 1,000 rules takes at most three times as long as
 * only writing their text (bench/sbpl). For rules with two wildcards the factor is 2.9; without
 * bs_spell_look it would be 3.5. */
#ifndef BS_SBPL_SPELL_H
#define BS_SBPL_SPELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Classes of bytes, as bits. A byte that is in no class is written as it is everywhere. */
enum {
    BS_HAS_CONTROL = 1,  /* below space, or DEL: no spelling is known that Seatbelt reads back */
    BS_HAS_WILDCARD = 2, /* `*` or `?` */
    BS_HAS_QUOTED = 4,   /* `\` or `"` */
    BS_HAS_META = 8      /* special in a regular expression */
};

extern const uint8_t bs_spell_classes[256];

/* Return the classes of all bytes of a text together. BS_HAS_META may be missing in the result, or
 * be set without reason. */
unsigned bs_spell_look(const char *text, size_t len);

enum { BS_SPELL_LONGEST = 4 }; /* most bytes with which one byte is written */

/* Write a byte of a string. With `pattern` the string is a regular expression in which the byte
 * must match itself. Returns the end of the written bytes. */
static inline char *bs_spell_byte(char *to, char byte, bool pattern) {
    unsigned class = bs_spell_classes[(unsigned char)byte];
    if (pattern && (class & BS_HAS_META) != 0) {
        *to++ = '\\';
        *to++ = '\\';
    }
    if ((class & BS_HAS_QUOTED) != 0)
        *to++ = '\\';
    *to++ = byte;
    return to;
}

/* The spelling of each byte in a regular expression. The writer always copies four bytes and then
 * counts only lens[byte] of them. This avoids a branch for escapes, which the processor could not
 * predict. */
struct bs_spelled {
    char bytes[256][BS_SPELL_LONGEST];
    uint8_t lens[256]; /* 0 for a wildcard */
};

void bs_spell_all(struct bs_spelled *spelled);

/* Append text as the contents of a string, with `\` and `"` escaped. */
void bs_spell_string(struct bs_buf *out, const char *text, size_t len);

/* As bs_spell_string, for literal text in a regular expression. */
void bs_spell_pattern(struct bs_buf *out, const char *text, size_t len);

/* Write a text for a message, in at most `size` bytes. A control character becomes an escape such
 * as `\x0a`, and a long text is cut between two characters. Returns `buf`. */
const char *bs_spell_for_people(const char *text, size_t len, char *buf, size_t size);

#endif
