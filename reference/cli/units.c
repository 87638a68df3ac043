#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

struct unit {
    const char *name;
    uint64_t factor;
};

static bool scaled(const char *text, const struct unit *units, uint64_t *value) {
    uint64_t sum = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    if (at == text)
        return false;
    for (; units->name != NULL; units++) {
        if (strcmp(at, units->name) != 0)
            continue;
        if (units->factor != 0 && sum > UINT64_MAX / units->factor)
            return false;
        *value = sum * units->factor;
        return true;
    }
    return false;
}

bool bs_cli_duration_ms(const char *text, uint64_t *ms) {
    static const struct unit units[] = {{"ms", 1},    {"s", 1000},    {"", 1000},
                                        {"m", 60000}, {"h", 3600000}, {NULL, 0}};
    return scaled(text, units, ms);
}

bool bs_cli_size(const char *text, uint64_t *bytes) {
    static const struct unit units[] = {
        {"", 1}, {"k", 1024}, {"M", 1024UL * 1024}, {"G", 1024UL * 1024 * 1024}, {NULL, 0}};
    return scaled(text, units, bytes);
}

int bs_cli_handle_options(int argc, char **argv, const struct option *options, bool has_program,
                          bs_cli_handle *handle, void *state) {
    const char *mode = has_program ? "+:" : ":";
    int status = 0;
    int option = 0;
    opterr = 0;
    optind = 1;
    while (status == 0 && (option = getopt_long(argc, argv, mode, options, NULL)) != -1)
        status = handle(state, option, argv[optind - 1]);
    return status;
}

int bs_cli_wrong(const char *format, ...) {
    va_list args;
    (void)fputs("boxspec-ref: ", stderr);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
    return 2;
}
