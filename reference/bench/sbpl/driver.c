/* Measures compiling a profile to text, in comparison with writing the same bytes through stdio
 * with one call for each clause.
 *
 * boxspec-bench-sbpl LIST RULES ROUNDS
 *
 * LIST is modify, denyRead or fold (modify with folded names). RULES is a file with one rule on
 * each line. Prints one line of JSON; the script `run` in this folder makes the table. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxspec/sbpl.h>

#include "policy/driver/bench.h"

enum { MOST_ROUNDS = 1000, TURN_NS = 2000000 };

static struct bs_error error;

static char *policy_text(const struct bench_lines *rules, bool denied) {
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (out == NULL)
        return NULL;
    (void)fputs("{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{\"name\":\"bench\"},"
                "\"spec\":{",
                out);
    if (!denied)
        (void)fputs("\"fsProfiles\":{\"" BENCH_PROFILE "\":{\"read\":[\"**\"],\"modify\":[", out);
    else
        (void)fputs("\"fsProfiles\":{\"" BENCH_PROFILE "\":{}},\"denyRead\":[", out);
    for (size_t i = 0; i < rules->n; i++)
        (void)fprintf(out, "%s\"%s\"", i > 0 ? "," : "", rules->items[i].data);
    (void)fputs(denied ? "]}}" : "]}}}}", out);
    (void)fclose(out);
    return text;
}

static struct bs_profile *profile_of(const struct bench_lines *rules, const char *list) {
    char *text = policy_text(rules, strcmp(list, "denyRead") == 0);
    struct bs_policy_text global = {text, text != NULL ? strlen(text) : 0, BS_POLICY_JSON};
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    struct bs_policy *policy = NULL;
    struct bs_profile *profile = NULL;
    unsigned flags = strcmp(list, "fold") == 0 ? BS_FOLD : 0;
    if (text == NULL || bs_policy_load(&global, NULL, &policy, &report, &error) != BS_OK ||
        bs_profile_compile(policy, BENCH_PROFILE, flags, &profile, &error) != BS_OK)
        (void)bench_broken(list, error.message);
    bs_policy_free(policy);
    bs_policy_report_clear(&report);
    free(text);
    return profile;
}

struct bench {
    struct bs_sbpl_input input;
    struct bench_text *clauses; /* the clauses of the text, each with its line feed */
    char *texts;                /* copies of the texts, to which the clauses point */
    size_t n;
};

static bool compile(const struct bench *bench) {
    struct bs_sbpl sbpl = BS_SBPL_INIT;
    bool good = bs_sbpl_compile(&bench->input, &sbpl, &error) == BS_OK;
    bs_sbpl_clear(&sbpl);
    return good;
}

/* Write all clauses. Each clause is a separate string, because fputs finds its end by the NUL and
 * fwrite by the length. */
static bool put_all(const struct bench *bench, FILE *out) {
    bool good = out != NULL;
    for (size_t i = 0; i < bench->n && good; i++)
        good = fputs(bench->clauses[i].data, out) >= 0;
    return out != NULL && fclose(out) == 0 && good;
}

static bool by_fputs(const struct bench *bench) { return put_all(bench, fopen("/dev/null", "w")); }

static bool into_memory(const struct bench *bench) {
    char *text = NULL;
    size_t len = 0;
    bool good = put_all(bench, open_memstream(&text, &len));
    free(text);
    return good;
}

static bool by_fwrite(const struct bench *bench) {
    FILE *out = fopen("/dev/null", "w");
    bool good = out != NULL;
    for (size_t i = 0; i < bench->n && good; i++)
        good = fwrite(bench->clauses[i].data, 1, bench->clauses[i].len, out) > 0;
    return out != NULL && fclose(out) == 0 && good;
}

static const struct {
    const char *name;
    bool (*once)(const struct bench *bench);
} turns[] = {{"compile_ns", compile},
             {"fputs_ns", by_fputs},
             {"fwrite_ns", by_fwrite},
             {"memory_ns", into_memory}};

enum { TURNS = sizeof turns / sizeof *turns };

static bool turn(unsigned which, const struct bench *bench, uint64_t *ns) {
    uint64_t start = bench_cpu_ns();
    uint64_t n = 0;
    do {
        if (!turns[which].once(bench))
            return false;
        n++;
    } while (bench_cpu_ns() - start < TURN_NS);
    *ns = (bench_cpu_ns() - start) / n;
    return true;
}

static bool split(struct bench *bench, const struct bs_sbpl *sbpl) {
    /* A clause has at least two bytes, so there are at most half as many clauses as bytes. */
    bench->clauses = calloc(sbpl->text.len / 2 + 1, sizeof *bench->clauses);
    bench->texts = malloc(sbpl->text.len * 2 + 1);
    if (bench->clauses == NULL || bench->texts == NULL)
        return false;
    char *to = bench->texts;
    for (const char *at = sbpl->text.data; *at != '\0';) {
        size_t len = strcspn(at, "\n") + 1;
        bench->clauses[bench->n++] = (struct bench_text){to, len};
        memcpy(to, at, len);
        to[len] = '\0';
        to += len + 1;
        at += len;
    }
    return true;
}

static bool measure(const struct bench *bench, size_t rounds, size_t bytes) {
    static uint64_t ns[TURNS][MOST_ROUNDS];
    for (size_t i = 0; i < rounds; i++) {
        for (unsigned k = 0; k < TURNS; k++) {
            unsigned which = (unsigned)(i + k) % TURNS;
            if (!turn(which, bench, &ns[which][i]))
                return false;
        }
    }
    (void)printf("{\"bytes\":%zu,\"clauses\":%zu", bytes, bench->n);
    for (unsigned k = 0; k < TURNS; k++) {
        (void)printf(",");
        bench_print_all(turns[k].name, ns[k], rounds);
    }
    (void)printf("}\n");
    return true;
}

int main(int argc, char **argv) {
    uint64_t rounds = 0;
    struct bench_lines rules;
    struct bs_sbpl sbpl = BS_SBPL_INIT;
    struct bench bench = {.input = BS_SBPL_INPUT_INIT};
    if (argc != 4 || !bench_number(argv[3], &rounds) || rounds == 0 || rounds > MOST_ROUNDS) {
        (void)fputs("usage: boxspec-bench-sbpl modify|denyRead|fold RULES ROUNDS\n", stderr);
        return 2;
    }
    bench_pin(0);
    if (!bench_read_lines(argv[2], &rules))
        return 1;
    struct bs_profile *profile = profile_of(&rules, argv[1]);
    bench.input.profile = profile;
    bench.input.root = "/Users/somebody/workspaces/project";
    bench.input.home = "/Users/somebody";
    bool good = profile != NULL && bs_sbpl_compile(&bench.input, &sbpl, &error) == BS_OK &&
                split(&bench, &sbpl) && measure(&bench, (size_t)rounds, sbpl.text.len);
    free(bench.clauses);
    free(bench.texts);
    bs_sbpl_clear(&sbpl);
    bs_profile_free(profile);
    bench_drop_lines(&rules);
    return good ? 0 : bench_broken(argv[2], error.message);
}
