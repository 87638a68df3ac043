/* Measures much output: kept, passed on, or capped. Each measurement needs a process of its own,
 * because the peak memory of a process never decreases. */
#define _GNU_SOURCE
#include <boxspec/exec.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bare.h"
#include "bench.h"

static int print(uint64_t bytes, uint64_t ns, uint64_t start_kib) {
    (void)printf("{\"bytes\": %" PRIu64 ", \"ns\": %" PRIu64 ", \"start_kib\": %" PRIu64
                 ", \"peak_kib\": %" PRIu64 "}\n",
                 bytes, ns, start_kib, bench_memory().peak);
    return 0;
}

static struct bs_exec_request writing(const struct bench_writer *writer) {
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    request.program = writer->argv[0];
    request.args = &writer->argv[1];
    request.n_args = 2;
    return request;
}

static int capture_library(const struct bench_writer *writer, uint64_t bytes) {
    struct bs_exec_request request = writing(writer);
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    uint64_t resident = bench_memory().resident;
    uint64_t start = bench_now_ns();
    int code = bs_exec_run(&request, &result, &err);
    uint64_t ns = bench_now_ns() - start;
    if (code != BS_OK || result.out.len != bytes)
        return bench_broken("capture by the library", code != BS_OK ? err.message : "bytes lost");
    (void)print(bytes, ns, resident);
    bs_exec_result_clear(&result);
    return 0;
}

static int capture_bare(const struct bench_writer *writer, uint64_t bytes) {
    struct bare_run run;
    uint64_t resident = bench_memory().resident;
    uint64_t start = bench_now_ns();
    int os_error = bare_exec(writer->argv, BENCH_PIPE, &run);
    uint64_t ns = bench_now_ns() - start;
    if (os_error != 0 || run.streams[0].len != bytes)
        return bench_broken("capture by the loop",
                            os_error != 0 ? strerror(os_error) : "bytes lost");
    (void)print(bytes, ns, resident);
    bare_clear(&run);
    return 0;
}

int bench_capture(bool library, uint64_t mib) {
    struct bench_writer writer;
    bench_writer_init(&writer, mib);
    return library ? capture_library(&writer, mib * BENCH_MIB)
                   : capture_bare(&writer, mib * BENCH_MIB);
}

static void count(void *ctx, enum bs_stream stream, const char *data, size_t len) {
    (void)stream;
    (void)data;
    *(uint64_t *)ctx += len;
}

int bench_callback(uint64_t mib) {
    struct bench_writer writer;
    bench_writer_init(&writer, mib);
    uint64_t seen = 0;
    struct bs_exec_request request = writing(&writer);
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    request.on_output = count;
    request.on_output_ctx = &seen;
    uint64_t resident = bench_memory().resident;
    uint64_t start = bench_now_ns();
    int code = bs_exec_run(&request, &result, &err);
    uint64_t ns = bench_now_ns() - start;
    bs_exec_result_clear(&result);
    if (code != BS_OK || seen != mib * BENCH_MIB)
        return bench_broken("output callback", code != BS_OK ? err.message : "bytes lost");
    return print(seen, ns, resident);
}

int bench_cap(uint64_t cap_mib) {
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    request.program = "yes";
    uint64_t most = cap_mib * BENCH_MIB;
    request.max_output_bytes = &most;
    uint64_t resident = bench_memory().resident;
    uint64_t start = bench_now_ns();
    int code = bs_exec_run(&request, &result, &err);
    uint64_t ns = bench_now_ns() - start;
    if (code != BS_OK)
        return bench_broken("yes under a cap", err.message);
    if (result.termination != BS_ENDED_CAP || !result.truncated)
        return bench_broken("yes under a cap", "did not end by the cap");
    uint64_t kept = result.out.len;
    bs_exec_result_clear(&result);
    return print(kept, ns, resident);
}
