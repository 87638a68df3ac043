/* What the measurements share. Each command prints one line of JSON, or answers one line with one
 * line; the script `run` beside this folder makes the table. */
#ifndef BOXSPEC_BENCH_EXEC_BENCH_H
#define BOXSPEC_BENCH_EXEC_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_TRUE "/bin/true"
#define BENCH_PIPE (256 * 1024)
#define BENCH_MIB (UINT64_C(1024) * 1024)

/* The commands: exit status of the process. Arguments are already numbers. */
int bench_pairs(uint64_t resident_mib);
int bench_capture(bool library, uint64_t mib);
int bench_callback(uint64_t mib);
int bench_cap(uint64_t cap_mib);
int bench_burst(bool library, uint64_t runs);
int bench_outcomes(uint64_t runs);
int bench_pour(uint64_t mib);

uint64_t bench_now_ns(void);
/* One line for people, then the exit status of a measurement that could not be made. */
int bench_broken(const char *what, const char *why);
/* `PROGRAM pour MIB` as the child of a capture; the strings live as long as the process. */
struct bench_writer {
    const char *argv[4];
    char mib[24];
};
void bench_writer_init(struct bench_writer *writer, uint64_t mib);

/* KiB of the calling process, 0 where /proc does not say. */
struct bench_memory {
    uint64_t resident;
    uint64_t peak;
};
struct bench_memory bench_memory(void);

/* What a run must not leave behind. Collects zombies in order to count them: only between runs. */
struct bench_holdings {
    unsigned descriptors;
    unsigned threads;
    unsigned zombies;
    bool children; /* some are alive */
};
struct bench_holdings bench_holdings(void);

#endif
