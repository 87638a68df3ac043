#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t read_clock(clockid_t clock) {
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t bench_now_ns(void) { return read_clock(CLOCK_MONOTONIC); }

uint64_t bench_cpu_ns(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

/* Bind this process to one processor. If that is not permitted, the rounds vary more, which is
 * visible in the confidence intervals. */
void bench_pin(unsigned cpu) {
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    for (unsigned i = 0, seen = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &all) || seen++ != cpu)
            continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(i, &one);
        (void)sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

int bench_broken(const char *what, const char *why) {
    (void)fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, why);
    return 1;
}

bool bench_number(const char *text, uint64_t *value) {
    char *end = NULL;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

bool bench_read_file(const char *path, struct bench_text *text) {
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        data = size < 0 ? NULL : malloc((size_t)size + 1);
        rewind(file);
        if (data != NULL && fread(data, 1, (size_t)size, file) == (size_t)size) {
            data[size] = '\0';
            *text = (struct bench_text){data, (size_t)size};
        } else {
            free(data);
            data = NULL;
        }
    }
    if (file != NULL)
        (void)fclose(file);
    if (data == NULL)
        (void)bench_broken(path, "cannot be read");
    return data != NULL;
}

bool bench_read_lines(const char *path, struct bench_lines *lines) {
    struct bench_text text;
    if (!bench_read_file(path, &text))
        return false;
    char *data = (char *)text.data;
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += data[i] == '\n';
    struct bench_text *items = calloc(n + 1, sizeof *items);
    if (items == NULL) {
        free(data);
        (void)bench_broken(path, "out of memory");
        return false;
    }
    char *at = data;
    for (size_t i = 0; i < n; i++) {
        char *end = strchr(at, '\n');
        *end = '\0';
        items[i] = (struct bench_text){at, (size_t)(end - at)};
        at = end + 1;
    }
    *lines = (struct bench_lines){items, n, data};
    return true;
}

void bench_drop_lines(struct bench_lines *lines) {
    free(lines->items);
    free(lines->file);
    *lines = (struct bench_lines){NULL, 0, NULL};
}

void bench_print_all(const char *name, const uint64_t *values, size_t n) {
    (void)printf("\"%s\":[", name);
    for (size_t i = 0; i < n; i++)
        (void)printf("%s%" PRIu64, i > 0 ? "," : "", values[i]);
    (void)printf("]");
}

void bench_print_text(const char *text) {
    (void)putchar('"');
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            (void)printf("\\%c", *at);
        else if ((unsigned char)*at < ' ')
            (void)printf("\\u%04x", (unsigned)(unsigned char)*at);
        else
            (void)putchar(*at);
    }
    (void)putchar('"');
}

const char *bench_tier(const struct bench_engine *engine, const void *compiled) {
    const char *text = engine->tier == NULL ? NULL : engine->tier(compiled);
    return text == NULL ? "" : text;
}
