#include "support/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/case.h"

void (*bs_fuzz_escape)(void);

static void say(const char *oracle, const char *format, va_list arguments) {
    fprintf(stderr, "boxspec-fuzz: %s: %s: ", bs_fuzz_target, oracle);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    bs_fuzz_show_case(stderr);
    fflush(stderr);
}

void bs_fuzz_fail(const char *oracle, const char *format, ...) {
    /* A describe hook that fails itself must not come back here. */
    static int failing;
    va_list arguments;
    if (bs_fuzz_escape != NULL)
        bs_fuzz_escape();
    va_start(arguments, format);
    if (failing++ == 0)
        say(oracle, format, arguments);
    va_end(arguments);
    abort();
}
