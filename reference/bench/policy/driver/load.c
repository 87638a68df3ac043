/* Compares loading a policy (parsing and validating, without compiling) with a parser alone. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxspec/policy.h>
#include <cjson/cJSON.h>
#include <yaml.h>

enum { MOST_ROUNDS = 1000, TURN_NS = 2000000 };

static bool library(const char *text, size_t len, enum bs_policy_format format) {
    struct bs_policy_text global = {text, len, format};
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    static struct bs_error error;
    struct bs_policy *policy = NULL;
    bool good = bs_policy_load(&global, NULL, &policy, &report, &error) == 0;
    if (!good)
        (void)bench_broken("bs_policy_load", error.message);
    else
        bs_policy_free(policy);
    bs_policy_report_clear(&report);
    return good;
}

static bool bare_json(const char *text, size_t len) {
    cJSON *json = cJSON_ParseWithLength(text, len);
    cJSON_Delete(json);
    return json != NULL;
}

static bool bare_yaml(const char *text, size_t len) {
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0)
        return false;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    bool good = true;
    for (bool end = false; good && !end;) {
        yaml_event_t event;
        good = yaml_parser_parse(&parser, &event) != 0;
        end = good && event.type == YAML_STREAM_END_EVENT;
        if (good)
            yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return good;
}

static bool once(bool ours, const char *text, size_t len, enum bs_policy_format format) {
    if (ours)
        return library(text, len, format);
    return format == BS_POLICY_JSON ? bare_json(text, len) : bare_yaml(text, len);
}

static bool turn(bool ours, const char *text, size_t len, enum bs_policy_format format,
                 uint64_t *ns) {
    uint64_t start = bench_cpu_ns();
    uint64_t n = 0;
    do {
        if (!once(ours, text, len, format))
            return false;
        n++;
    } while (bench_cpu_ns() - start < TURN_NS);
    *ns = (bench_cpu_ns() - start) / n;
    return true;
}

/* The arguments are: load json|yaml FILE ROUNDS */
int bench_load(int argc, char **argv) {
    static uint64_t ns[2][MOST_ROUNDS];
    uint64_t rounds = 0;
    struct bench_text text;
    bool json = argc == 3 && strcmp(argv[0], "json") == 0;
    if (argc != 3 || (!json && strcmp(argv[0], "yaml") != 0) || !bench_number(argv[2], &rounds) ||
        rounds == 0 || rounds > MOST_ROUNDS)
        return bench_broken("load", "wants json|yaml FILE ROUNDS");
    if (!bench_read_file(argv[1], &text))
        return 1;
    enum bs_policy_format format = json ? BS_POLICY_JSON : BS_POLICY_YAML;
    bool good = true;
    for (size_t i = 0; i < rounds && good; i++)
        for (unsigned k = 0; k < 2 && good; k++) {
            bool ours = (i + k) % 2 == 0;
            good = turn(ours, text.data, text.len, format, &ns[ours][i]);
        }
    if (good) {
        (void)printf("{\"bytes\":%zu,", text.len);
        bench_print_all("bare_ns", ns[0], (size_t)rounds);
        (void)printf(",");
        bench_print_all("library_ns", ns[1], (size_t)rounds);
        (void)printf("}\n");
    }
    free((void *)text.data);
    return good ? 0 : bench_broken(argv[1], "was not taken by every parser");
}
