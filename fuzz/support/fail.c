#include "support/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/case.h"

void (*bs_fuzz_escape)(void);

enum { MESSAGE_BYTES = 4096 }; /* a longer message is cut */

/* Print a message, which may quote inputs. All bytes except printable ASCII are escaped, so that
 * the message is one line. */
static void put_printable(const char *text) {
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c >= ' ' && c <= '~')
            fputc(c, stderr);
        else
            fprintf(stderr, "\\x%02x", c);
    }
}

static void print_failure(const char *oracle, const char *format, va_list arguments) {
    char message[MESSAGE_BYTES];
    fprintf(stderr, "boxspec-fuzz: %s: %s: ", bs_fuzz_target, oracle);
    (void)vsnprintf(message, sizeof message, format, arguments);
    put_printable(message);
    fputc('\n', stderr);
    bs_fuzz_show_case(stderr);
    fflush(stderr);
}

void bs_fuzz_fail(const char *oracle, const char *format, ...) {
    /* Count the failures. If the describe hook itself fails, it must not be called again. */
    static int failing;
    va_list arguments;
    if (bs_fuzz_escape != NULL)
        bs_fuzz_escape();
    va_start(arguments, format);
    if (failing++ == 0)
        print_failure(oracle, format, arguments);
    va_end(arguments);
    abort();
}
