/* Commands and helpers of the measurements. A command prints one line of JSON, or answers each line
 * of stdin with one line. The script `run` in the parent folder makes the table. */
#ifndef BOXSPEC_BENCH_EXEC_BENCH_H
#define BOXSPEC_BENCH_EXEC_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_TRUE "/bin/true"
#define BENCH_PIPE (256 * 1024)
#define BENCH_MIB (UINT64_C(1024) * 1024)

/* The commands. Each returns the exit status of the process. */
int bench_pairs(uint64_t resident_mib);
int bench_capture(bool library, uint64_t mib);
int bench_callback(uint64_t mib);
int bench_cap(uint64_t cap_mib);
int bench_burst(bool library, uint64_t runs);
int bench_outcomes(uint64_t runs);
int bench_pour(uint64_t mib);

uint64_t bench_now_ns(void);
/* Print one line to stderr. Returns the exit status of a measurement that could not be made. */
int bench_broken(const char *what, const char *why);
/* The command line `PROGRAM pour MIB` of a child that writes MIB MiB to stdout. argv points into
 * this struct. */
struct bench_writer {
    const char *argv[4];
    char mib[24];
};
void bench_writer_init(struct bench_writer *writer, uint64_t mib);

/* Memory of the calling process in KiB; 0 if /proc does not contain the value. */
struct bench_memory {
    uint64_t resident;
    uint64_t peak;
};
struct bench_memory bench_memory(void);

/* Resources that must not grow from run to run. bench_holdings counts zombies by reaping them, so
 * call it only between runs. */
struct bench_holdings {
    unsigned descriptors;
    unsigned threads;
    unsigned zombies;
    bool children; /* some children are alive */
};
struct bench_holdings bench_holdings(void);

#endif
