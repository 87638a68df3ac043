#define _GNU_SOURCE
#include "bench.h"

#include <stdio.h>
#include <time.h>

uint64_t bench_now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

int bench_broken(const char *what, const char *why) {
    (void)fprintf(stderr, "boxspec-bench-exec: %s: %s\n", what, why);
    return 1;
}

void bench_writer_init(struct bench_writer *writer, uint64_t mib) {
    (void)snprintf(writer->mib, sizeof writer->mib, "%llu", (unsigned long long)mib);
    /* The child resolves this link before its exec, while it still runs the program of this
     * process. */
    writer->argv[0] = "/proc/self/exe";
    writer->argv[1] = "pour";
    writer->argv[2] = writer->mib;
    writer->argv[3] = NULL;
}
