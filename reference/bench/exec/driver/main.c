#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static int usage(void) {
    (void)fputs(
        "usage: boxspec-bench-exec pairs RESIDENT_MIB | capture library|bare MIB |\n"
        "       callback MIB | cap MIB | burst library|bare RUNS | outcomes RUNS | pour MIB\n",
        stderr);
    return 2;
}

static bool number(const char *text, uint64_t *value) {
    char *end = NULL;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 &&
           *value <= UINT64_C(1) << 20;
}

static int either(const char *command, const char *who, uint64_t value) {
    bool library = strcmp(who, "library") == 0;
    if (!library && strcmp(who, "bare") != 0)
        return usage();
    if (strcmp(command, "capture") == 0)
        return bench_capture(library, value);
    if (strcmp(command, "burst") == 0)
        return bench_burst(library, value);
    return usage();
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(uint64_t value);
    } commands[] = {{"pairs", bench_pairs},
                    {"callback", bench_callback},
                    {"cap", bench_cap},
                    {"outcomes", bench_outcomes},
                    {"pour", bench_pour}};
    uint64_t value = 0;
    if ((argc != 3 && argc != 4) || !number(argv[argc - 1], &value))
        return usage();
    if (argc == 4)
        return either(argv[1], argv[2], value);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(value);
    return usage();
}
