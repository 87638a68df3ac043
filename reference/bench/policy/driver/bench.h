/* Shared parts of the measurements. Each command prints one line of JSON; the script `run` in the
 * folder above makes the table. */
#ifndef BOXSPEC_BENCH_POLICY_BENCH_H
#define BOXSPEC_BENCH_POLICY_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BENCH_NO_RULE (-1)
#define BENCH_GAVE_UP (-2) /* the engine says that it cannot answer */
#define BENCH_BAD_PATH (-3)

struct bench_text {
    const char *data; /* NUL-terminated */
    size_t len;
};

struct bench_lines {
    struct bench_text *items;
    size_t n;
    char *file; /* that the items point into */
};

/* An engine that matches a list of rules. `compile` makes one object; `highest` takes the raw path
 * of a caller and normalises it. Its result is an index, unless the engine has `index_of`, which
 * turns the result into an index and is not timed. */
struct bench_engine {
    const char *name;
    /* NULL: refused, and `why` says so. */
    void *(*compile)(const struct bench_lines *rules, char *why, size_t why_size);
    ptrdiff_t (*highest)(void *compiled, const char *raw, size_t len);
    void (*drop)(void *compiled);
    /* Describes the compiled object; may be NULL. */
    const char *(*tier)(const void *compiled);
    ptrdiff_t (*index_of)(const void *compiled, ptrdiff_t answer);
    bool warms; /* the first pass is not like the next */
};

extern const struct bench_engine bench_boxspec;
extern const struct bench_engine bench_profile;
extern const struct bench_engine bench_glob;
extern const struct bench_engine bench_fnmatch;
extern const struct bench_engine bench_pcre2;
extern const struct bench_engine bench_re2;

/* Returns NULL for an unknown name. */
const struct bench_engine *bench_find_engine(const char *name);

/* The normal form by the library, the same for every engine; the root is empty. The text lives
 * until the next call of the thread. False: refused. */
bool bench_normal(const char *raw, size_t len, struct bench_text *normal);

/* An anchored regular expression of the same language, for RE2 and PCRE2; `.` is any code point.
 * The root is the empty path there. NULL when memory ran out; owned by the caller. */
char *bench_regex(const char *rule, size_t len);

/* The rules as the read list of a profile of that name; as JSON, owned by the caller. */
#define BENCH_PROFILE "agent"
char *bench_policy_text(const struct bench_lines *rules);

/* The commands: exit status of the process. */
int bench_check(int argc, char **argv);
int bench_compile(int argc, char **argv);
int bench_match(int argc, char **argv);
int bench_load(int argc, char **argv);
int bench_serve(int argc, char **argv);

/* Reads a whole file and appends a NUL; the caller owns it. False after a message. */
bool bench_read_file(const char *path, struct bench_text *text);
/* Every line of a file, without its end; false after a message. */
bool bench_read_lines(const char *path, struct bench_lines *lines);
void bench_drop_lines(struct bench_lines *lines);
bool bench_number(const char *text, uint64_t *value);

const char *bench_tier(const struct bench_engine *engine, const void *compiled);
uint64_t bench_now_ns(void);
/* Of this process, which has one thread: others on its core do not count. */
uint64_t bench_cpu_ns(void);
void bench_pin(unsigned cpu);
/* One line for people, then the exit status of a measurement that could not be made. */
int bench_broken(const char *what, const char *why);
/* `"name":[1,2,…]` */
void bench_print_all(const char *name, const uint64_t *values, size_t n);
/* A JSON string. */
void bench_print_text(const char *text);

#ifdef __cplusplus
}
#endif
#endif
