/* Texts that a test puts together. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "support/harness.h"

/* Behind the text in a buffer of `room` bytes; what does not fit fails the test. */
static inline void append(char *text, size_t room, const char *more) {
    size_t used = strlen(text);
    int written = snprintf(text + used, room - used, "%s", more);
    assert_in_range(written, 0, room - used - 1);
}
