/* Measures nanoseconds per check. First every contestant answers for every path, and contestants
 * with the same rules must agree. Then the rounds are timed, in which all contestants take turns.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_CONTESTANTS = 64,
    TURN_NS = 2000000,
    /* a contestant whose pass takes longer takes part in only SLOW_ROUNDS rounds */
    SLOW_NS = 30000000,
    SLOW_ROUNDS = 3,
    /* If there are more paths, a path has left the cache before it is used again. */
    WARM_PATHS = 10000
};

/* A slower contestant makes only the pass that verifies its answers. This pass ends early after
 * most_ns. */
static const uint64_t very_slow_ns = UINT64_C(1000000000);
static const uint64_t most_ns = UINT64_C(8000000000);

struct contestant {
    const struct bench_engine *engine;
    const char *file;
    struct bench_lines rules;
    void *compiled;
    ptrdiff_t *answers;
    size_t answered;
    uint64_t pass_ns;
    uint64_t *ns; /* for each round: the time of one check, in units of 0.01 ns */
    size_t rounds;
    char why[512]; /* not empty if the rules were refused */
};

static volatile ptrdiff_t sink;

static uint64_t pass(const struct contestant *c, const struct bench_lines *paths) {
    ptrdiff_t sum = 0;
    uint64_t start = bench_cpu_ns();
    for (size_t i = 0; i < paths->n; i++)
        sum += c->engine->highest(c->compiled, paths->items[i].data, paths->items[i].len);
    uint64_t took = bench_cpu_ns() - start;
    sink = sum;
    return took;
}

static void turn(struct contestant *c, const struct bench_lines *paths) {
    if (c->compiled == NULL)
        return;
    bool slow = c->pass_ns > SLOW_NS;
    if (c->pass_ns > very_slow_ns) {
        c->ns[0] = c->pass_ns * 100 / c->answered;
        c->rounds = 1;
        return;
    }
    if (slow && c->rounds >= SLOW_ROUNDS && paths->n < WARM_PATHS)
        return;
    if (!slow && paths->n < WARM_PATHS)
        (void)pass(c, paths);
    uint64_t took = 0;
    uint64_t passes = 0;
    do {
        took += pass(c, paths);
        passes++;
    } while (took < TURN_NS);
    c->ns[c->rounds++] = took * 100 / (passes * paths->n);
}

static bool prepare(struct contestant *c, char *word, const struct bench_lines *paths,
                    size_t rounds) {
    char *colon = strchr(word, ':');
    if (colon == NULL)
        return bench_broken(word, "is not ENGINE:RULES") == 0;
    *colon = '\0';
    c->engine = bench_find_engine(word);
    c->file = colon + 1;
    if (c->engine == NULL)
        return bench_broken(word, "no such engine") == 0;
    c->answers = calloc(paths->n, sizeof *c->answers);
    c->ns = calloc(rounds, sizeof *c->ns);
    if (c->answers == NULL || c->ns == NULL)
        return bench_broken(word, "out of memory") == 0;
    if (!bench_read_lines(c->file, &c->rules))
        return false;
    c->compiled = c->engine->compile(&c->rules, c->why, sizeof c->why);
    return true;
}

static bool answer_all(struct contestant *c, const struct bench_lines *paths) {
    uint64_t start = bench_cpu_ns();
    while (c->compiled != NULL && c->answered < paths->n && c->pass_ns <= most_ns) {
        const struct bench_text *path = &paths->items[c->answered];
        c->answers[c->answered++] = c->engine->highest(c->compiled, path->data, path->len);
        c->pass_ns = bench_cpu_ns() - start;
    }
    if (c->engine->warms && c->compiled != NULL && c->answered == paths->n)
        c->pass_ns = pass(c, paths);
    for (size_t i = 0; i < c->answered; i++) {
        if (c->engine->index_of != NULL)
            c->answers[i] = c->engine->index_of(c->compiled, c->answers[i]);
        if (c->answers[i] >= BENCH_NO_RULE)
            continue;
        (void)fprintf(stderr, "%s with %s does not answer %s\n", c->engine->name, c->file,
                      paths->items[i].data);
        return false;
    }
    return true;
}

static const char *rule_of(const struct contestant *c, size_t path) {
    return c->answers[path] < 0 ? "no rule" : c->rules.items[c->answers[path]].data;
}

static bool agree(const struct contestant *a, const struct contestant *b,
                  const struct bench_lines *paths) {
    size_t n = a->answered < b->answered ? a->answered : b->answered;
    for (size_t i = 0; i < n; i++) {
        if (a->answers[i] == b->answers[i])
            continue;
        (void)fprintf(stderr, "%s, path %s: %s says %s, %s says %s\n", a->file,
                      paths->items[i].data, a->engine->name, rule_of(a, i), b->engine->name,
                      rule_of(b, i));
        return false;
    }
    return true;
}

static bool verify(struct contestant *all, size_t n, const struct bench_lines *paths) {
    for (size_t i = 0; i < n; i++) {
        if (!answer_all(&all[i], paths))
            return false;
        for (size_t k = 0; k < i; k++)
            if (strcmp(all[k].file, all[i].file) == 0 && !agree(&all[k], &all[i], paths))
                return false;
    }
    return true;
}

static void report(const struct contestant *all, size_t n, const struct bench_lines *paths) {
    (void)printf("{\"paths\":%zu,\"contestants\":[", paths->n);
    for (size_t i = 0; i < n; i++) {
        size_t hits = 0;
        for (size_t k = 0; k < all[i].answered; k++)
            hits += all[i].answers[k] >= 0;
        (void)printf("%s{\"engine\":\"%s\",\"n\":%zu,\"answered\":%zu,\"hits\":%zu,\"tier\":",
                     i > 0 ? "," : "", all[i].engine->name, all[i].rules.n, all[i].answered, hits);
        bench_print_text(all[i].compiled == NULL ? "" : bench_tier(all[i].engine, all[i].compiled));
        (void)printf(",\"refused\":");
        bench_print_text(all[i].why);
        (void)printf(",");
        bench_print_all("centi_ns", all[i].ns, all[i].rounds);
        (void)printf("}");
    }
    (void)printf("]}\n");
}

/* The arguments are: check PATHS ROUNDS ENGINE:RULES... */
int bench_check(int argc, char **argv) {
    struct bench_lines paths;
    uint64_t rounds = 0;
    size_t n = argc < 3 ? 0 : (size_t)argc - 2;
    if (n == 0 || n > MOST_CONTESTANTS || !bench_number(argv[1], &rounds) || rounds == 0 ||
        rounds > 10000)
        return bench_broken("check", "wants PATHS ROUNDS ENGINE:RULES...");
    if (!bench_read_lines(argv[0], &paths))
        return 1;
    static struct contestant all[MOST_CONTESTANTS];
    int status = 0;
    for (size_t i = 0; i < n && status == 0; i++)
        status = prepare(&all[i], argv[2 + i], &paths, rounds) ? 0 : 1;
    if (status == 0)
        status = verify(all, n, &paths) ? 0 : 1;
    for (size_t round = 0; round < rounds && status == 0; round++)
        for (size_t i = 0; i < n; i++)
            turn(&all[(i + round) % n], &paths);
    if (status == 0)
        report(all, n, &paths);
    for (size_t i = 0; i < n; i++) {
        if (all[i].compiled != NULL)
            all[i].engine->drop(all[i].compiled);
        bench_drop_lines(&all[i].rules);
        free(all[i].answers);
        free(all[i].ns);
    }
    bench_drop_lines(&paths);
    return status;
}
