#ifndef BS_BASE_ERROR_H
#define BS_BASE_ERROR_H

#include <boxspec/error.h>

/* Fill *err unless it is NULL, and return code, so that callers can `return bs_fail(...)`. */
int bs_fail(struct bs_error *err, int code, int os_error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Return the message of the C library for an errno. It may be written to `buf`. Thread-safe. */
const char *bs_os_message(int os_error, char *buf, unsigned long size);

#endif
