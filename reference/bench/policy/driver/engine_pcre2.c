#define PCRE2_CODE_UNIT_WIDTH 8
#include "bench.h"

#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rule {
    pcre2_code *code;
};

struct compiled {
    struct rule *rules;
    size_t n;
    pcre2_match_data *found;
};

static void drop(void *compiled) {
    struct compiled *made = compiled;
    for (size_t i = 0; i < made->n; i++)
        pcre2_code_free(made->rules[i].code);
    free(made->rules);
    pcre2_match_data_free(made->found);
    free(made);
}

static pcre2_code *compile_one(const struct bench_text *rule, char *why, size_t why_size) {
    char *regex = bench_regex(rule->data, rule->len);
    int error = 0;
    PCRE2_SIZE offset = 0;
    pcre2_code *code = NULL;
    if (regex != NULL)
        code = pcre2_compile((PCRE2_SPTR)regex, PCRE2_ZERO_TERMINATED,
                             PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOTALL |
                                 PCRE2_NO_AUTO_CAPTURE,
                             &error, &offset, NULL);
    free(regex);
    if (code != NULL) {
        error = pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
        if (error == 0)
            return code;
        pcre2_code_free(code);
    }
    char message[128] = "";
    (void)pcre2_get_error_message(error, (PCRE2_UCHAR *)message, sizeof message);
    (void)snprintf(why, why_size, "PCRE2: %s", message);
    return NULL;
}

static void *compile(const struct bench_lines *rules, char *why, size_t why_size) {
    struct compiled *made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->rules = calloc(rules->n, sizeof *made->rules);
        made->found = pcre2_match_data_create(1, NULL);
    }
    if (made == NULL || made->rules == NULL || made->found == NULL) {
        (void)snprintf(why, why_size, "PCRE2: out of memory");
        if (made != NULL)
            drop(made);
        return NULL;
    }
    for (; made->n < rules->n; made->n++) {
        made->rules[made->n].code = compile_one(&rules->items[made->n], why, why_size);
        if (made->rules[made->n].code == NULL) {
            drop(made);
            return NULL;
        }
    }
    return made;
}

static ptrdiff_t highest(void *compiled, const char *raw, size_t len) {
    struct compiled *made = compiled;
    struct bench_text path;
    if (!bench_normal(raw, len, &path))
        return BENCH_BAD_PATH;
    for (size_t i = made->n; i-- > 0;) {
        int rc = pcre2_jit_match(made->rules[i].code, (PCRE2_SPTR)path.data, path.len, 0, 0,
                                 made->found, NULL);
        if (rc >= 0)
            return (ptrdiff_t)i;
        if (rc != PCRE2_ERROR_NOMATCH)
            return BENCH_GAVE_UP;
    }
    return BENCH_NO_RULE;
}

const struct bench_engine bench_pcre2 = {"PCRE2-JIT", compile, highest, drop, NULL, NULL, false};
