/* Runs the library and the bare loop alternately in one process, so that the load of the machine
 * slows both equally. Answers each line `N` on stdin with N pairs `library-ns bare-ns`, so that the
 * caller can alternate with other programs too. */
#define _GNU_SOURCE
#include <boxspec/exec.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bare.h"
#include "bench.h"

static const char *const argv_true[] = {BENCH_TRUE, NULL};

static uint64_t library_once(void) {
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    request.program = BENCH_TRUE;
    uint64_t start = bench_now_ns();
    bool ended = bs_exec_run(&request, &result, NULL) == BS_OK && result.success;
    bs_exec_result_clear(&result);
    return ended ? bench_now_ns() - start : 0;
}

static uint64_t bare_once(void) {
    struct bare_run run;
    uint64_t start = bench_now_ns();
    bool ended = bare_exec(argv_true, 0, &run) == 0 && run.exit_code == 0;
    bare_clear(&run);
    return ended ? bench_now_ns() - start : 0;
}

/* Occupy memory in small pages, because these need the most page table entries, which a fork has to
 * copy. */
static bool occupy(uint64_t mib) {
    size_t size = (size_t)(mib * BENCH_MIB);
    if (size == 0)
        return true;
    char *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return false;
    (void)madvise(block, size, MADV_NOHUGEPAGE);
    memset(block, 1, size);
    return true;
}

static bool answer(unsigned long pairs) {
    for (unsigned long i = 0; i < pairs; i++) {
        /* The two take turns in going first, so that both profit equally often from caches that the
         * other warmed. */
        bool library_first = i % 2 == 0;
        uint64_t first = library_first ? library_once() : bare_once();
        uint64_t second = library_first ? bare_once() : library_once();
        if (first == 0 || second == 0)
            return false;
        (void)printf("%s%" PRIu64 " %" PRIu64, i > 0 ? " " : "", library_first ? first : second,
                     library_first ? second : first);
    }
    (void)putchar('\n');
    return fflush(stdout) == 0;
}

int bench_pairs(uint64_t resident_mib) {
    char line[64];
    if (!occupy(resident_mib))
        return bench_broken("resident memory", "mmap failed");
    while (fgets(line, sizeof line, stdin) != NULL)
        if (!answer(strtoul(line, NULL, 10)))
            return bench_broken(BENCH_TRUE, "did not run");
    return 0;
}
