/* Text between the quotes of a string, and text that means itself in a regular expression. */
#ifndef BS_SBPL_SPELL_H
#define BS_SBPL_SPELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* What a byte is, bits put together; 0: it stands for itself everywhere. */
enum {
    BS_HAS_CONTROL = 1,  /* below space, or DEL: has no spelling that is known to be read back */
    BS_HAS_WILDCARD = 2, /* `*` or `?` */
    BS_HAS_QUOTED = 4,   /* `\` or `"` */
    BS_HAS_META = 8      /* means something in a regular expression */
};

extern const uint8_t bs_spell_classes[256];

/* Which of CONTROL, WILDCARD and QUOTED the bytes of a text are; other bits mean nothing. */
unsigned bs_spell_look(const char *text, size_t len);

enum { BS_SPELL_LONGEST = 4 }; /* bytes that one byte is written with */

/* Writes a byte of a string, or of a string that is a regular expression in which it means itself.
 * Returns where the next one goes. */
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

/* All bytes of regular expressions, written. Which names have escapes where cannot be predicted, so
 * a long list is written without asking: four bytes each time, of which some count. */
struct bs_spelled {
    char bytes[256][BS_SPELL_LONGEST];
    uint8_t lens[256]; /* 0: a wildcard */
};

void bs_spell_all(struct bs_spelled *spelled);

/* Appends literal text as a string is written: `\` and `"` escaped. */
void bs_spell_string(struct bs_buf *out, const char *text, size_t len);

/* The same for the string of a regular expression, in which the text means itself. */
void bs_spell_pattern(struct bs_buf *out, const char *text, size_t len);

/* The same text for people, in at most `size` bytes: control characters as `\x0a`, a long one cut
 * between characters. Returns buf. */
const char *bs_spell_for_people(const char *text, size_t len, char *buf, size_t size);

#endif
