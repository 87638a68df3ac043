/* Measures the execution of a module and a plain run of the same program, alternately.
 *
 * boxspec-bench-module EXTENSIONS ID COUNT
 *
 * ID is a module that returns its input; the plain run has an empty stdin. Prints one line of JSON,
 * in nanoseconds; the script `run` in this folder makes the table. */
#define _GNU_SOURCE
#include <boxspec/module.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/driver/bare.h"
#include "exec/driver/bench.h"

static const char input[] = "{\"a\": 1}";

static uint64_t module_once(const char *root, const char *id) {
    struct bs_module_request request = BS_MODULE_REQUEST_INIT;
    struct bs_module_result result = BS_MODULE_RESULT_INIT;
    request.id = id;
    request.input = input;
    request.input_len = strlen(input);
    request.extensions_root = root;
    uint64_t begin = bench_now_ns();
    bool ended = bs_module_execute(&request, &result, NULL) == BS_OK &&
                 result.outcome == BS_MODULE_VALUE && result.value.len > 0;
    bs_module_result_clear(&result);
    return ended ? bench_now_ns() - begin : 0;
}

static uint64_t bare_once(const char *program) {
    const char *const argv[] = {program, NULL};
    struct bare_run run;
    uint64_t begin = bench_now_ns();
    bool ended = bare_exec(argv, 0, &run) == 0 && run.exit_code == 0;
    bare_clear(&run);
    return ended ? bench_now_ns() - begin : 0;
}

int main(int argc, char **argv) {
    bs_module_runner_main(argc, argv);
    char program[4096];
    if (argc != 4) {
        (void)fprintf(stderr, "usage: boxspec-bench-module EXTENSIONS ID COUNT\n");
        return 2;
    }
    unsigned long count = strtoul(argv[3], NULL, 10);
    (void)snprintf(program, sizeof program, "%s/%s", argv[1], argv[2]);
    (void)printf("{\"pairs\": [");
    for (unsigned long i = 0; i < count; i++) {
        uint64_t took[2] = {0, 0};
        for (unsigned long turn = 0; turn < 2; turn++) {
            unsigned long who = (i + turn) % 2;
            took[who] = who == 0 ? module_once(argv[1], argv[2]) : bare_once(program);
            if (took[who] == 0)
                return bench_broken("module", who == 0 ? "no value" : "the bare run failed");
        }
        (void)printf("%s[%" PRIu64 ", %" PRIu64 "]", i > 0 ? ", " : "", took[0], took[1]);
    }
    (void)printf("]}\n");
    return 0;
}
