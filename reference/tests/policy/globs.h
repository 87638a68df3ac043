/* Compiles one glob and matches one path with it. */
#ifndef BS_TESTS_POLICY_GLOBS_H
#define BS_TESTS_POLICY_GLOBS_H

#include <string.h>

#include <boxspec/glob.h>

#include "support/harness.h"

static inline struct bs_glob *compiled(enum bs_case sensitivity, const char *pattern, size_t len) {
    struct bs_glob *glob = NULL;
    struct bs_error err = BS_ERROR_INIT;
    if (bs_glob_compile(pattern, len, sensitivity, &glob, &err) != BS_OK)
        fail_msg("`%.40s`: %s", pattern, err.message);
    return glob;
}

static inline bool matches(enum bs_case sensitivity, const char *pattern, const char *path) {
    struct bs_glob *glob = compiled(sensitivity, pattern, strlen(pattern));
    bool matched = false;
    struct bs_error err = BS_ERROR_INIT;
    if (bs_glob_match(glob, path, strlen(path), &matched, &err) != BS_OK)
        fail_msg("`%s`: %s", path, err.message);
    bs_glob_free(glob);
    return matched;
}

struct match_row {
    const char *pattern;
    const char *path;
    bool match;
};

static inline void assert_matches(enum bs_case sensitivity, const struct match_row *rows,
                                  size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (matches(sensitivity, rows[i].pattern, rows[i].path) != rows[i].match)
            fail_msg("`%s` and `%s`", rows[i].pattern, rows[i].path);
    }
}

#endif
