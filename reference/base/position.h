/* Converts the offset of an error in a text to line and column. */
#ifndef BS_BASE_POSITION_H
#define BS_BASE_POSITION_H

#include <stddef.h>
#include <stdint.h>

struct bs_position {
    uint32_t line;   /* from 1; LF, CR LF and a lone CR end a line */
    uint32_t column; /* from 1, in code points; an ill-formed byte counts as one */
};

struct bs_position bs_position_of(const char *text, size_t at);

#endif
