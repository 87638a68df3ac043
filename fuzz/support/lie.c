#include "support/lie.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/case.h"

enum { HONEST = -1, NOT_READ = -2, MOST_BITS = 62 };

static int bits = NOT_READ;
static const char *only; /* the only oracle to falsify; NULL: all of them */

static void read_environment(void) {
    const char *value = getenv("BOXSPEC_FUZZ_LIE");
    bits = HONEST;
    if (value == NULL || *value == '\0')
        return;
    char *end = NULL;
    long number = strtol(value, &end, 10);
    if (end == value || number < 0 || number > MOST_BITS || (*end != '\0' && *end != ':')) {
        fprintf(stderr, "boxspec-fuzz: BOXSPEC_FUZZ_LIE is K or K:ORACLE, K from 0 to %d\n",
                MOST_BITS);
        exit(2);
    }
    bits = (int)number;
    only = *end == ':' ? end + 1 : NULL;
}

bool bs_fuzz_lie(const char *oracle) {
    if (bits == HONEST)
        return false;
    if (bits == NOT_READ)
        read_environment();
    if (bits == HONEST || (only != NULL && strcmp(only, oracle) != 0))
        return false;
    uint64_t hash = bs_fuzz_input_hash();
    for (const char *at = oracle; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    /* Mix the high bits into the low ones, which would otherwise depend only on the low bits of the
     * input's bytes. */
    hash ^= hash >> 32;
    return (hash & ((UINT64_C(1) << bits) - 1)) == 0;
}
