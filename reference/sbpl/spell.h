/* Text between the quotes of a string, and text that means itself in a regular expression
 * (SBPL-NAME-01 to -04).
 *
 * Two parts exist for speed. The goal is a compile of 1,000 rules in three times the time that
 * writing its text takes (bench/sbpl). Rules with two wildcards need 2.9 with the classes of 16
 * bytes at once and the table of spelled bytes, and 3.5 without the former. */
#ifndef BS_SBPL_SPELL_H
#define BS_SBPL_SPELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Classes of a byte, as bits; 0: the byte is written as it is everywhere. */
enum {
    BS_HAS_CONTROL = 1,  /* below space, or DEL: no known spelling that is read back */
    BS_HAS_WILDCARD = 2, /* `*` or `?` */
    BS_HAS_QUOTED = 4,   /* `\` or `"` */
    BS_HAS_META = 8      /* special in a regular expression */
};

extern const uint8_t bs_spell_classes[256];

/* The classes of all bytes of a text together. BS_HAS_META is not reliable in the result. */
unsigned bs_spell_look(const char *text, size_t len);

enum { BS_SPELL_LONGEST = 4 }; /* bytes that one byte is written with */

/* Writes a byte of a string. With `pattern` the string is a regular expression, in which the byte
 * means itself. Returns the end of the written bytes. */
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

/* Each byte as it is written in a regular expression. The writer copies four bytes each time and
 * keeps lens[byte] of them: escapes in names cannot be predicted, so branches would cost more. */
struct bs_spelled {
    char bytes[256][BS_SPELL_LONGEST];
    uint8_t lens[256]; /* 0: a wildcard */
};

void bs_spell_all(struct bs_spelled *spelled);

/* Appends literal text as the contents of a string: `\` and `"` are escaped. */
void bs_spell_string(struct bs_buf *out, const char *text, size_t len);

/* As bs_spell_string, for a regular expression in which the text means itself. */
void bs_spell_pattern(struct bs_buf *out, const char *text, size_t len);

/* Writes the text for a message, in at most `size` bytes: control characters as `\x0a`, a long
 * text cut between characters. Returns buf. */
const char *bs_spell_for_people(const char *text, size_t len, char *buf, size_t size);

#endif
