#define _GNU_SOURCE
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int bs_fail(struct bs_error *err, int code, int os_error, const char *format, ...) {
    if (err == NULL)
        return code;
    err->code = code;
    err->os_error = os_error;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return code;
}

const char *bs_os_message(int os_error, char *buf, unsigned long size) {
    /* GNU's strerror_r returns a pointer to the text, which need not be in buf */
    return strerror_r(os_error, buf, size);
}
