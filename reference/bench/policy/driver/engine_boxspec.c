#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#include <boxspec/path.h>

#include "policy/match/matcher.h"

bool bench_normal(const char *raw, size_t len, struct bench_text *normal) {
    static char buffer[128 * 1024];
    static struct bs_error error;
    if (len >= sizeof buffer ||
        bs_path_normalize(raw, len, buffer, &normal->data, &normal->len, &error) != 0)
        return false;
    if (normal->len == 1 && normal->data[0] == '.')
        normal->len = 0;
    return true;
}

static void *compile(const struct bench_lines *rules, char *why, size_t why_size) {
    struct bs_pattern *patterns = calloc(rules->n, sizeof *patterns);
    struct bs_matcher *matcher = NULL;
    struct bs_error error = BS_ERROR_INIT;
    if (patterns == NULL) {
        (void)snprintf(why, why_size, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < rules->n; i++)
        patterns[i] = (struct bs_pattern){rules->items[i].data, rules->items[i].len};
    if (bs_matcher_compile(patterns, rules->n, false, &matcher, &error) != 0) {
        (void)snprintf(why, why_size, "%s", error.message);
        matcher = NULL;
    }
    free(patterns);
    return matcher;
}

static ptrdiff_t highest(void *compiled, const char *raw, size_t len) {
    struct bench_text path;
    if (!bench_normal(raw, len, &path))
        return BENCH_BAD_PATH;
    if (path.len == 0)
        return bs_matcher_highest(compiled, ".", 1);
    return bs_matcher_highest(compiled, path.data, path.len);
}

static void drop(void *compiled) { bs_matcher_free(compiled); }

static const char *tier(const void *compiled) {
    static char text[64];
    struct bs_matcher_facts facts = bs_matcher_facts(compiled);
    (void)snprintf(text, sizeof text, "%s, %zu states, %zu KiB", facts.tier, facts.states,
                   facts.bytes / 1024);
    return text;
}

const struct bench_engine bench_boxspec = {"matcher", compile, highest, drop, tier, NULL, false};
