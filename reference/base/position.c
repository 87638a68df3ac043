#include "base/position.h"

struct bs_position bs_position_of(const char *text, size_t at) {
    struct bs_position position = {1, 1};
    for (size_t i = 0; i < at; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\n' && i > 0 && text[i - 1] == '\r')
            continue; /* CR LF is one line end: the CR has been counted */
        if (c == '\n' || c == '\r')
            position = (struct bs_position){position.line + 1, 1};
        else
            position.column += (c & 0xC0) != 0x80;
    }
    return position;
}
