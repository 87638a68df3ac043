#ifndef BS_BASE_ERROR_H
#define BS_BASE_ERROR_H

#include <boxspec/error.h>

/* Fills *err when it is not NULL and returns code, so that callers can `return bs_fail(...)`. */
int bs_fail(struct bs_error *err, int code, int os_error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The system's words for an errno; `buf` is used when the words have to be made. Thread-safe. */
const char *bs_os_message(int os_error, char *buf, unsigned long size);

#endif
