#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int bench_pour(uint64_t mib) {
    static char block[BENCH_PIPE];
    memset(block, 'x', sizeof block);
    uint64_t left = mib * BENCH_MIB;
    while (left > 0) {
        ssize_t put = write(1, block, left < sizeof block ? (size_t)left : sizeof block);
        if (put < 0 && errno != EINTR)
            return 1;
        if (put > 0)
            left -= (uint64_t)put;
    }
    return 0;
}
