/* Text between the quotes of a string, and text that means itself in a regular expression. */
#ifndef BS_SBPL_SPELL_H
#define BS_SBPL_SPELL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Appends literal text as a string is written: `\` and `"` escaped. */
void bs_spell_string(struct bs_buf *out, const char *text, size_t len);

/* The same for the string of a regular expression, in which the text means itself. */
void bs_spell_pattern(struct bs_buf *out, const char *text, size_t len);

/* What a text consists of, bits put together. */
enum {
    BS_HAS_CONTROL = 1,  /* below space, or DEL: has no spelling that is known to be read back */
    BS_HAS_WILDCARD = 2, /* `*` or `?` */
    BS_HAS_QUOTED = 4,   /* `\` or `"` */
    BS_HAS_META = 8      /* means something in a regular expression */
};

unsigned bs_spell_look(const char *text, size_t len);

/* The same text for people, in at most `size` bytes: control characters as `\x0a`, a long one cut
 * between characters. Returns buf. */
const char *bs_spell_for_people(const char *text, size_t len, char *buf, size_t size);

#endif
