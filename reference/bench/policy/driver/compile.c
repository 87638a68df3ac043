/* Measures one compilation in a fresh process, the memory that it takes, and the first pass over
 * the paths. The first pass is measured because some engines do a part of the compilation only
 * then. */
#define _GNU_SOURCE
#include "bench.h"

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct memory {
    uint64_t resident; /* resident memory in KiB */
    uint64_t peak;
};

static uint64_t field(const char *status, const char *name) {
    const char *at = strstr(status, name);
    return at == NULL ? 0 : strtoull(at + strlen(name), NULL, 10);
}

static struct memory memory(void) {
    static char text[8192];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    return (struct memory){field(text, "VmRSS:"), field(text, "VmHWM:")};
}

static void forget_peak(void) {
    (void)malloc_trim(0);
    int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)!write(fd, "5", 1);
    (void)close(fd);
}

static uint64_t above(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

static bool first_pass(const struct bench_engine *engine, void *compiled,
                       const struct bench_lines *paths) {
    for (size_t i = 0; i < paths->n; i++)
        if (engine->highest(compiled, paths->items[i].data, paths->items[i].len) < BENCH_NO_RULE)
            return false;
    return true;
}

/* The arguments are: compile ENGINE RULES PATHS */
int bench_compile(int argc, char **argv) {
    struct bench_lines rules = {NULL, 0, NULL};
    struct bench_lines paths = {NULL, 0, NULL};
    const struct bench_engine *engine = argc == 3 ? bench_find_engine(argv[0]) : NULL;
    if (engine == NULL)
        return bench_broken("compile", "wants ENGINE RULES PATHS");
    if (!bench_read_lines(argv[1], &rules))
        return 1;
    if (!bench_read_lines(argv[2], &paths)) {
        bench_drop_lines(&rules);
        return 1;
    }
    char why[4096] = "";
    forget_peak();
    struct memory before = memory();
    uint64_t start = bench_cpu_ns();
    void *compiled = engine->compile(&rules, why, sizeof why);
    uint64_t took = bench_cpu_ns() - start;
    struct memory after = memory();
    (void)printf("{\"ns\":%" PRIu64 ",\"held_kib\":%" PRIu64 ",\"peak_kib\":%" PRIu64, took,
                 above(after.resident, before.resident), above(after.peak, before.resident));
    if (compiled == NULL) {
        (void)printf(",\"refused\":");
        bench_print_text(why);
    } else {
        start = bench_cpu_ns();
        bool answered = first_pass(engine, compiled, &paths);
        (void)printf(",\"answered\":%s,\"first_pass_ns\":%" PRIu64 ",\"used_kib\":%" PRIu64
                     ",\"tier\":",
                     answered ? "true" : "false", bench_cpu_ns() - start,
                     above(memory().resident, before.resident));
        bench_print_text(bench_tier(engine, compiled));
        engine->drop(compiled);
    }
    (void)printf("}\n");
    bench_drop_lines(&rules);
    bench_drop_lines(&paths);
    return 0;
}
