/* Matches one rule through the public functions for single globs (boxspec/glob.h). */
#include "bench.h"

#include <stdio.h>

#include <boxspec/glob.h>

static struct bs_error error;

static void *compile(const struct bench_lines *rules, char *why, size_t why_size) {
    struct bs_glob *glob = NULL;
    if (rules->n != 1) {
        (void)snprintf(why, why_size, "one glob at a time");
        return NULL;
    }
    if (bs_glob_compile(rules->items[0].data, rules->items[0].len, BS_CASE_SENSITIVE, &glob,
                        &error) == 0)
        return glob;
    (void)snprintf(why, why_size, "%s", error.message);
    return NULL;
}

static ptrdiff_t highest(void *compiled, const char *raw, size_t len) {
    bool matched = false;
    if (bs_glob_match(compiled, raw, len, &matched, &error) != 0)
        return BENCH_BAD_PATH;
    return matched ? 0 : BENCH_NO_RULE;
}

static void drop(void *compiled) { bs_glob_free(compiled); }

const struct bench_engine bench_glob = {"glob", compile, highest, drop, NULL, NULL, false};
