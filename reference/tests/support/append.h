/* Appends texts in tests. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "support/harness.h"

/* Append to the text in a buffer of `room` bytes. Fail the test if there is not enough room. */
static inline void append(char *text, size_t room, const char *more) {
    size_t used = strlen(text);
    int written = snprintf(text + used, room - used, "%s", more);
    assert_in_range(written, 0, room - used - 1);
}
