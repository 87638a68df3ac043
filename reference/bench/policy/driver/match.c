/* Matches one rule that is difficult by design with one long path, and with a path of twice the
 * length. */
#include "bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 9, TURN_NS = 1000000, MOST_NS = 300000000, RARE = 5 };

/* A family of rules and paths. The texts consist of tokens with blanks between them: a star, a
 * letter, a question mark, a segment. */
struct family {
    const char *name;
    const char *head; /* tokens at the start of the rule */
    const char *unit; /* tokens after the head, repeated up to the wanted length */
    const char *tail; /* tokens at the end of the rule */
    const char *path; /* repeated to make the path; its last byte is never a slash */
    bool noise;       /* if true, the path is a random sequence of the letters in `path` */
    /* a letter that occurs only a few times in the path, so that an engine cannot decide early
     * because the letter is missing */
    char rare;
};

static const struct family families[] = {
    {"*a*a*a…b", "", "*a", "*b", "a", false, 'b'},
    {"*a????…", "*a", "?", "", "ab", true, 'a'},
    {"*x*y*z*", "", "*x*y*z", "*", "xxyxy", false, 'z'},
    {"**/a/**/a/…/b", "", "**/a/", "b", "a/", false, 'b'},
};

static char *make_rule(const struct family *f, size_t tokens, size_t *len) {
    size_t head = strlen(f->head);
    size_t tail = strlen(f->tail);
    size_t unit = strlen(f->unit);
    bool segments = strchr(f->unit, '/') != NULL;
    size_t middle = segments ? tokens / 2 * unit : tokens - head - tail;
    char *rule = malloc(head + middle + tail + 1);
    if (rule == NULL)
        return NULL;
    memcpy(rule, f->head, head);
    for (size_t i = 0; i < middle; i++)
        rule[head + i] = f->unit[i % unit];
    memcpy(rule + head + middle, f->tail, tail);
    *len = head + middle + tail;
    /* Do not cut between two stars, because that would make another wildcard of them. */
    if (middle > 0 && tail > 0 && !segments && rule[head + middle - 1] == '*' && f->tail[0] == '*')
        rule[head + middle - 1] = f->unit[1];
    rule[*len] = '\0';
    return rule;
}

static char *make_path(const struct family *f, size_t len) {
    char *path = malloc(len + 1);
    size_t unit = strlen(f->path);
    uint32_t state = 1;
    for (size_t i = 0; path != NULL && i < len; i++) {
        state = state * UINT32_C(1664525) + UINT32_C(1013904223);
        path[i] = f->path[f->noise ? (state >> 16) % unit : i % unit];
    }
    for (size_t i = 1; path != NULL && i <= RARE; i++)
        path[len / (RARE + 1) * i & ~(size_t)1] = f->rare;
    if (path != NULL) {
        if (path[len - 1] == '/')
            path[len - 1] = 'a';
        path[len] = '\0';
    }
    return path;
}

static bool turn(const struct bench_engine *engine, void *compiled, const char *path, size_t len,
                 uint64_t *ns) {
    uint64_t start = bench_cpu_ns();
    uint64_t took = 0;
    uint64_t n = 0;
    do {
        if (engine->highest(compiled, path, len) < BENCH_NO_RULE)
            return false;
        n++;
        took = bench_cpu_ns() - start;
    } while (took < TURN_NS);
    *ns = took / n;
    return true;
}

static int measure(const struct bench_engine *engine, const struct family *f, size_t tokens,
                   size_t len) {
    size_t rule_len = 0;
    char *rule = make_rule(f, tokens, &rule_len);
    char *paths[2] = {make_path(f, len), make_path(f, 2 * len)};
    uint64_t ns[2][ROUNDS] = {{0}};
    size_t rounds = 0;
    char why[4096] = "out of memory";
    struct bench_text item = {rule, rule_len};
    struct bench_lines rules = {&item, 1, NULL};
    uint64_t start = bench_cpu_ns();
    void *compiled = NULL;
    if (rule != NULL && paths[0] != NULL && paths[1] != NULL)
        compiled = engine->compile(&rules, why, sizeof why);
    uint64_t compile_ns = bench_cpu_ns() - start;
    bool good = compiled != NULL;
    start = bench_cpu_ns();
    while (good && rounds < ROUNDS && (rounds == 0 || bench_cpu_ns() - start < MOST_NS)) {
        good = turn(engine, compiled, paths[0], len, &ns[0][rounds]) &&
               turn(engine, compiled, paths[1], 2 * len, &ns[1][rounds]);
        rounds += good;
    }
    (void)printf("{\"compile_ns\":%" PRIu64 ",\"refused\":", compile_ns);
    bench_print_text(compiled == NULL ? why : good ? "" : "gave up");
    (void)printf(",\"answer\":%td,",
                 good ? engine->highest(compiled, paths[1], 2 * len) : (ptrdiff_t)BENCH_GAVE_UP);
    bench_print_all("short_ns", ns[0], rounds);
    (void)printf(",");
    bench_print_all("long_ns", ns[1], rounds);
    (void)printf("}\n");
    if (compiled != NULL)
        engine->drop(compiled);
    free(paths[0]);
    free(paths[1]);
    free(rule);
    return 0;
}

/* The arguments are: match ENGINE FAMILY TOKENS BYTES. FAMILY is a number; BYTES is the length of
 * the shorter path. */
int bench_match(int argc, char **argv) {
    uint64_t family = 0;
    uint64_t tokens = 0;
    uint64_t len = 0;
    const struct bench_engine *engine = argc == 4 ? bench_find_engine(argv[0]) : NULL;
    if (engine == NULL || !bench_number(argv[1], &family) || !bench_number(argv[2], &tokens) ||
        !bench_number(argv[3], &len) || family >= sizeof families / sizeof families[0] ||
        tokens < 8 || tokens > 65536 || len < 1024 || len > 65536)
        return bench_broken("match", "wants ENGINE FAMILY TOKENS BYTES");
    return measure(engine, &families[family], (size_t)tokens, (size_t)len);
}
