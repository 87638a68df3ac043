#define _GNU_SOURCE
#include "support/glob_case.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "support/fail.h"
#include "support/glob_oracle.h"
#include "support/lie.h"
#include "support/path_model.h"
#include "support/provider.h"
#include "support/steps.h"

/* Limits in basic blocks. Each is four times the maximum over the corpus, or twice the maximum of
 * an unoptimised build. The limit of a match is the promise of the header, path x glob / 64, which
 * is stricter than the contract's path x glob. */
enum {
    COMPILE_BASE = 8000, /* several passes over all 256 bytes */
    COMPILE_BYTE = 1200, /* a `?` adds an entry for each byte that can begin a character */
    MATCH_BASE = 800,
    MATCH_STEP = 32,
};

/* static, because otherwise its two KiB would be zeroed for each query */
static struct bs_error err;
static char glob_normal[BS_ORACLE_LONGEST_PATH + 1];
static char path_normal[BS_ORACLE_LONGEST_PATH + 1];

static void judge_steps(const char *doing, uint64_t took, uint64_t budget) {
    if (bs_fuzz_lie("steps"))
        took = budget + 1;
    if (took > budget)
        bs_fuzz_fail("steps", "%s took %" PRIu64 " steps, the budget is %" PRIu64, doing, took,
                     budget);
}

static void clear_error(void) {
    err.code = BS_OK;
    err.message[0] = '\0';
}

static void judge_verdict(const char *of, int code, const char *why) {
    bool taken = (code == BS_OK) != bs_fuzz_lie("refusal");
    if (taken && why != NULL)
        bs_fuzz_fail("refusal", "the %s is accepted, and must be refused: %s", of, why);
    if (!taken && why == NULL)
        bs_fuzz_fail("refusal", "the %s is refused, and is valid: %s", of, err.message);
}

/* Fail unless a refusal sets a code and a message and leaves the outputs unchanged. */
static void judge_refusal(const char *of, int code, bool touched) {
    bool owed = code == BS_E_INVALID && err.code == code && err.message[0] != '\0' &&
                memchr(err.message, '\0', sizeof err.message) != NULL && !touched;
    if (owed == bs_fuzz_lie("error"))
        bs_fuzz_fail("error", "the refusal of the %s has code %d, error %d `%.60s`%s", of, code,
                     err.code, err.message, touched ? " and touched the output" : "");
}

/* Select C.UTF-8 for this thread, once. Returns false if the system does not have this locale. */
static bool has_locale(void) {
    static locale_t locale;
    static bool tried;
    if (!tried) {
        tried = true;
        locale = newlocale(LC_ALL_MASK, "C.UTF-8", NULL);
        if (locale != NULL)
            uselocale(locale);
    }
    return locale != NULL;
}

/* True if the C library gives the pattern the same meaning: it has no `**` and no brackets, and the
 * path is not the root. The library's matcher backtracks at every star, so only short texts with
 * few stars are compared. */
static bool fnmatch_applies(const char *glob, size_t glob_len, const char *path, size_t len) {
    size_t stars = 0;
    if (glob_len > 128 || len > 128 || (len == 1 && path[0] == '.'))
        return false;
    for (size_t i = 0; i < glob_len; i++) {
        if (glob[i] == '[' || (glob[i] == '*' && i > 0 && glob[i - 1] == '*'))
            return false;
        stars += glob[i] == '*';
    }
    return stars <= 8 && has_locale();
}

/* True if fnmatch may match more paths than the contract allows (it never matches fewer). glibc
 * compares some patterns as bytes: in 2.36 `??` matches one character of two bytes. So a `?`
 * together with a multi-byte character may match too much. */
static bool fnmatch_is_lax(const char *glob, size_t glob_len, const char *path, size_t len) {
    if (memchr(glob, '?', glob_len) == NULL)
        return false;
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)path[i] >= 0x80)
            return true;
    }
    return false;
}

static const char *verb(bool matched) { return matched ? "matches" : "does not match"; }

static void judge_match(size_t glob_len, size_t len, bool matched) {
    bool expected = bs_oracle_glob_matches(glob_normal, glob_len, path_normal, len);
    bool answer = matched != bs_fuzz_lie("match");
    if (answer != expected)
        bs_fuzz_fail("match", "the glob %s, and it should%s", verb(answer), expected ? "" : " not");
    if (!fnmatch_applies(glob_normal, glob_len, path_normal, len))
        return;
    glob_normal[glob_len] = '\0';
    path_normal[len] = '\0';
    expected = fnmatch(glob_normal, path_normal, FNM_PATHNAME | FNM_NOESCAPE) == 0;
    answer = matched != bs_fuzz_lie("fnmatch");
    if (answer != expected &&
        !(expected && fnmatch_is_lax(glob_normal, glob_len, path_normal, len)))
        bs_fuzz_fail("fnmatch", "the glob %s, for fnmatch it %s", verb(answer), verb(expected));
}

static void judge_path(const struct bs_glob *glob, size_t glob_len, struct bs_fuzz_text path) {
    size_t len = 0;
    const char *why = bs_model_path(path.text, path.len, path_normal, &len);
    char *block = bs_fuzz_lend(path.text, path.len);
    clear_error();
    bool before = path.len % 2 == 0;
    bool matched = before;
    bs_fuzz_steps_start();
    int code = bs_glob_match(glob, block, path.len, &matched, &err);
    uint64_t took = bs_fuzz_steps_taken();
    bs_fuzz_give_back(block, path.len);
    judge_steps("matching", took,
                MATCH_BASE + MATCH_STEP * ((uint64_t)glob_len / 64 + 1) * (path.len + 1));
    judge_verdict("path", code, why);
    if (code == BS_OK)
        judge_match(glob_len, len, matched);
    else
        judge_refusal("path", code, matched != before);
}

void bs_fuzz_judge_glob(struct bs_fuzz_text glob, const struct bs_fuzz_text *paths, size_t n) {
    if (glob.len > BS_ORACLE_LONGEST_PATH)
        return;
    size_t len = 0;
    const char *why = bs_model_glob(glob.text, glob.len, glob_normal, &len);
    char *block = bs_fuzz_lend(glob.text, glob.len);
    clear_error();
    struct bs_glob *compiled = NULL;
    bs_fuzz_steps_start();
    int code = bs_glob_compile(block, glob.len, BS_CASE_SENSITIVE, &compiled, &err);
    uint64_t took = bs_fuzz_steps_taken();
    /* Give the text back before the queries, because the compiled glob must have its own copy. */
    bs_fuzz_give_back(block, glob.len);
    judge_steps("compiling", took, COMPILE_BASE + COMPILE_BYTE * ((uint64_t)glob.len + 1));
    judge_verdict("glob", code, why);
    if (code != BS_OK) {
        judge_refusal("glob", code, compiled != NULL);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (paths[i].len <= BS_ORACLE_LONGEST_PATH)
            judge_path(compiled, len, paths[i]);
    }
    bs_glob_free(compiled);
}

void bs_fuzz_describe_glob(struct bs_fuzz_case *c, struct bs_fuzz_text glob,
                           const struct bs_fuzz_text *paths, size_t n) {
    bool text = true;
    for (size_t i = 0; i < n; i++)
        text = text && bs_fuzz_is_text(paths[i].text, paths[i].len);
    bs_fuzz_case_open(c, "glob.match");
    bs_fuzz_case_text(c, "pattern", glob.text, glob.len);
    bs_fuzz_case_texts_open(c, "paths", text);
    for (size_t i = 0; i < n; i++)
        bs_fuzz_case_item(c, paths[i].text, paths[i].len);
    bs_fuzz_case_texts_close(c);
    bs_fuzz_case_close(c);
}
