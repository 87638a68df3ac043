#include "support/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/case.h"

void (*bs_fuzz_escape)(void);

void bs_fuzz_fail(const char *oracle, const char *format, ...) {
    if (bs_fuzz_escape != NULL)
        bs_fuzz_escape();
    /* A describe hook that fails itself must not come back here. */
    static int failing;
    if (failing++ == 0) {
        va_list arguments;
        va_start(arguments, format);
        fprintf(stderr, "boxspec-fuzz: %s: %s: ", bs_fuzz_target, oracle);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
        va_end(arguments);
        bs_fuzz_show_case(stderr);
        fflush(stderr);
    }
    abort();
}
