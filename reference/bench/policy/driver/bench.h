/* Declarations that all measurements share. Each command prints one line of JSON; the script `run`
 * in the folder above makes the table. */
#ifndef BOXSPEC_BENCH_POLICY_BENCH_H
#define BOXSPEC_BENCH_POLICY_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BENCH_NO_RULE (-1)
#define BENCH_GAVE_UP (-2) /* result of an engine that cannot answer for this path */
#define BENCH_BAD_PATH (-3)

struct bench_text {
    const char *data; /* NUL-terminated */
    size_t len;
};

struct bench_lines {
    struct bench_text *items;
    size_t n;
    char *file; /* content of the file, to which the items point */
};

/* An engine that matches a list of rules. `compile` makes an object of the rules. `highest` gets a
 * path that is not normalised, and normalises it. Its result is the index of a rule. An engine with
 * `index_of` may return another result, which `index_of` turns into the index outside of the
 * measured time. */
struct bench_engine {
    const char *name;
    /* Returns NULL if the rules are refused; `why` has the reason then. */
    void *(*compile)(const struct bench_lines *rules, char *why, size_t why_size);
    ptrdiff_t (*highest)(void *compiled, const char *raw, size_t len);
    void (*drop)(void *compiled);
    /* Return a description of the compiled object; may be NULL. */
    const char *(*tier)(const void *compiled);
    ptrdiff_t (*index_of)(const void *compiled, ptrdiff_t answer);
    bool warms; /* the first pass takes longer than the following ones, because it fills a cache */
};

extern const struct bench_engine bench_boxspec;
extern const struct bench_engine bench_profile;
extern const struct bench_engine bench_glob;
extern const struct bench_engine bench_fnmatch;
extern const struct bench_engine bench_pcre2;
extern const struct bench_engine bench_re2;

/* Return the engine, or NULL for an unknown name. */
const struct bench_engine *bench_find_engine(const char *name);

/* Make the normal form of a path with the library, so that it is the same for every engine. The
 * root becomes the empty text. The text is valid until the next call of the thread. Returns false
 * if the path is refused. */
bool bench_normal(const char *raw, size_t len, struct bench_text *normal);

/* Return an anchored regular expression that is equivalent to the rule, for RE2 and PCRE2. `.` must
 * match any code point, and the root must be given as the empty path. The caller owns the text;
 * NULL if memory ran out. */
char *bench_regex(const char *rule, size_t len);

/* Return a policy in JSON with one profile of that name, whose read list has the rules. The caller
 * owns the text. */
#define BENCH_PROFILE "agent"
char *bench_policy_text(const struct bench_lines *rules);

/* The commands. Each returns the exit status of the process. */
int bench_check(int argc, char **argv);
int bench_compile(int argc, char **argv);
int bench_match(int argc, char **argv);
int bench_load(int argc, char **argv);
int bench_serve(int argc, char **argv);

/* Read a whole file and append a NUL; the caller owns the text. Returns false after printing a
 * message. */
bool bench_read_file(const char *path, struct bench_text *text);
/* Read all lines of a file, without line ends. Returns false after printing a message. */
bool bench_read_lines(const char *path, struct bench_lines *lines);
void bench_drop_lines(struct bench_lines *lines);
bool bench_number(const char *text, uint64_t *value);

const char *bench_tier(const struct bench_engine *engine, const void *compiled);
uint64_t bench_now_ns(void);
/* Return the processor time of this process, which has one thread. So other processes on the same
 * core do not count. */
uint64_t bench_cpu_ns(void);
void bench_pin(unsigned cpu);
/* Print one line for people. Returns the exit status of a measurement that could not be made. */
int bench_broken(const char *what, const char *why);
/* Print `"name":[1,2,…]`. */
void bench_print_all(const char *name, const uint64_t *values, size_t n);
/* Print a JSON string. */
void bench_print_text(const char *text);

#ifdef __cplusplus
}
#endif
#endif
