/* Checks laws between globs, which do not depend on the matches of a single glob. */
#include <stdlib.h>
#include <string.h>

#include <boxspec/glob.h>

#include "policy/match/matcher.h"
#include "support/case.h"
#include "support/fail.h"
#include "support/law_gen.h"
#include "support/lie.h"
#include "support/path_model.h"

const char bs_fuzz_target[] = "glob_laws";

enum verdict { NO_MATCH, MATCH, REFUSED };

static enum verdict query(const struct bs_gen_text *text, enum bs_case sensitivity,
                          const char *path, size_t len) {
    struct bs_glob *glob = NULL;
    bool matched = false;
    if (bs_glob_compile(text->data, text->len, sensitivity, &glob, NULL) != BS_OK)
        return REFUSED;
    int code = bs_glob_match(glob, path, len, &matched, NULL);
    bs_glob_free(glob);
    return code != BS_OK ? REFUSED : matched ? MATCH : NO_MATCH;
}

static enum verdict ask_path(const struct bs_gen_text *text, const struct bs_gen_text *path) {
    return query(text, BS_CASE_SENSITIVE, path->data, path->len);
}

static bool normalize(struct bs_gen_text *text, bool glob) {
    char normal[BS_GEN_MOST_BYTES + 1];
    const char *why = glob ? bs_model_glob(text->data, text->len, normal, &text->len)
                           : bs_model_path(text->data, text->len, normal, &text->len);
    if (why != NULL)
        return false;
    memcpy(text->data, normal, text->len);
    return true;
}

/* Write `before`, the glob and `after` to `out`. The glob is in normal form. Returns false if there
 * is no room. A glob with a blank at its end is only used unchanged, because with text after it the
 * blank would have another meaning. */
static bool surround(const char *before, const struct bs_gen_text *text, const char *after,
                     struct bs_gen_text *out) {
    size_t front = strlen(before);
    size_t back = strlen(after);
    if (front + text->len + back > sizeof out->data)
        return false;
    memcpy(out->data, before, front);
    memcpy(out->data + front, text->data, text->len);
    memcpy(out->data + front + text->len, after, back);
    out->len = front + text->len + back;
    return true;
}

/* Fail unless the result of the library fits the law. bs_fuzz_lie inverts the result, to test the
 * oracle. */
static void check_law(const char *law, bool found, bool expected, const char *what) {
    if ((found != bs_fuzz_lie(law)) != expected)
        bs_fuzz_fail(law, "%s", what);
}

static void judge_literal(const struct bs_law_case *law, const struct bs_gen_text *path) {
    enum verdict verdict = ask_path(&law->globs[0], path);
    if (verdict == REFUSED)
        return;
    struct bs_gen_text glob = law->globs[0];
    struct bs_gen_text normal = *path;
    bool same = normalize(&glob, true) && normalize(&normal, false) && glob.len == normal.len &&
                memcmp(glob.data, normal.data, glob.len) == 0;
    check_law("literal", verdict == MATCH, same,
              same ? "a literal does not match itself" : "a literal matches another path");
}

static void judge_everything(const struct bs_law_case *law) {
    static const struct bs_gen_text all = {2, "**"};
    enum verdict verdict = ask_path(&all, &law->path);
    if (verdict != REFUSED)
        check_law("everything", verdict == MATCH, true, "`**` does not match a path");
}

static bool matches(const struct bs_glob *glob, const char *path, size_t len) {
    bool matched = false;
    return bs_glob_match(glob, path, len, &matched, NULL) == BS_OK && matched;
}

/* True if the glob matches a part of the path, which begins after a separator (`after`) or ends
 * before one. */
static bool matches_a_part(const struct bs_gen_text *text, const struct bs_gen_text *path,
                           bool after) {
    struct bs_glob *glob = NULL;
    if (bs_glob_compile(text->data, text->len, BS_CASE_SENSITIVE, &glob, NULL) != BS_OK)
        return false;
    bool found = matches(glob, path->data, path->len) || matches(glob, ".", 1);
    for (size_t i = 0; i < path->len && !found; i++) {
        if (path->data[i] != '/')
            continue;
        const char *part = after ? path->data + i + 1 : path->data;
        found = matches(glob, part, after ? path->len - i - 1 : i);
    }
    bs_glob_free(glob);
    return found;
}

static void judge_nested(const struct bs_law_case *law) {
    bool deeper = law->law == BS_LAW_DEEPER;
    struct bs_gen_text glob = law->globs[0];
    struct bs_gen_text path = law->path;
    struct bs_gen_text around;
    if (!normalize(&glob, true) || !normalize(&path, false) ||
        !surround(deeper ? "**/" : "", &glob, deeper ? "" : "/**", &around))
        return;
    enum verdict verdict = ask_path(&around, &path);
    /* the law does not apply to a path that is refused */
    if (verdict == REFUSED)
        return;
    bool part = matches_a_part(&law->globs[0], &path, deeper);
    if (deeper)
        check_law("deeper", verdict == MATCH || !part, true,
                  "the glob matches the end of the path, and not the path with `**/` in front");
    else
        check_law(
            "below", verdict == MATCH || !part, true,
            "the glob matches the beginning of the path, and followed by `/**` it does not match "
            "the path");
}

static void judge_fold(const struct bs_law_case *law) {
    const struct bs_gen_text *glob = &law->globs[0];
    enum verdict verdict = query(glob, BS_CASE_FOLD, law->path.data, law->path.len);
    if (verdict != REFUSED)
        check_law("fold", verdict == MATCH, true, "spellings of one name do not match");
    verdict = query(glob, BS_CASE_FOLD, law->other.data, law->other.len);
    if (verdict != REFUSED)
        check_law("fold", verdict == MATCH, law->equal,
                  law->equal ? "spellings of one name do not match" : "different names match");
}

static void judge_together(const struct bs_law_case *law) {
    static const enum bs_tier tiers[] = {BS_TIER_TABLES, BS_TIER_INDEX, BS_TIER_AUTOMATON};
    static struct bs_gen_text globs[BS_LAW_MOST_GLOBS];
    struct bs_pattern patterns[BS_LAW_MOST_GLOBS];
    struct bs_gen_text path = law->path;
    size_t n = 0;
    ptrdiff_t expected = BS_NO_RULE;
    if (!normalize(&path, false))
        return;
    for (size_t i = 0; i < law->n_globs; i++) {
        globs[n] = law->globs[i];
        if (!normalize(&globs[n], true))
            continue;
        if (ask_path(&law->globs[i], &path) == MATCH)
            expected = (ptrdiff_t)n;
        patterns[n] = (struct bs_pattern){globs[n].data, globs[n].len};
        n++;
    }
    struct bs_matcher *matcher = NULL;
    if (bs_matcher_compile_from(tiers[law->tier], patterns, n, false, &matcher, NULL) != BS_OK)
        bs_fuzz_fail("together", "tier %u does not take %zu globs", law->tier, n);
    ptrdiff_t found = bs_matcher_highest(matcher, path.data, path.len);
    bs_matcher_free(matcher);
    if ((found == expected) == bs_fuzz_lie("together"))
        bs_fuzz_fail("together",
                     "tier %u has %td as the highest of %zu globs, one by one it is %td", law->tier,
                     found, n, expected);
}

/* Check whether a glob of this length compiles. It is not matched with a path. */
static void judge_length(const struct bs_law_case *law) {
    char *text = malloc(law->length);
    struct bs_glob *glob = NULL;
    if (text == NULL)
        abort();
    memset(text, 'a', law->length);
    int code = bs_glob_compile(text, law->length, BS_CASE_SENSITIVE, &glob, NULL);
    bs_glob_free(glob);
    free(text);
    check_law("length", code == BS_OK, law->length <= BS_GLOB_MOST_BYTES,
              "the limit is not the documented one");
}

static void describe_glob(struct bs_fuzz_case *c, const struct bs_law_case *law, size_t i) {
    bool has_other = law->law == BS_LAW_LITERAL || law->law == BS_LAW_FOLD;
    bool text = bs_fuzz_is_text(law->path.data, law->path.len) &&
                bs_fuzz_is_text(law->other.data, law->other.len);
    bs_fuzz_case_open(c, "glob.match");
    bs_fuzz_case_text(c, "pattern", law->globs[i].data, law->globs[i].len);
    bs_fuzz_case_texts_open(c, "paths", text);
    bs_fuzz_case_item(c, law->path.data, law->path.len);
    if (has_other)
        bs_fuzz_case_item(c, law->other.data, law->other.len);
    bs_fuzz_case_texts_close(c);
    if (law->law == BS_LAW_FOLD)
        bs_fuzz_case_word(c, "case", "fold");
    bs_fuzz_case_close(c);
}

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    static struct bs_law_case law;
    bs_gen_law(data, size, &law);
    if (law.law == BS_LAW_EVERYTHING)
        law.globs[law.n_globs++] = (struct bs_gen_text){2, "**"};
    if (law.law == BS_LAW_DEEPER || law.law == BS_LAW_BELOW) {
        bool deeper = law.law == BS_LAW_DEEPER;
        struct bs_gen_text glob = law.globs[0];
        if (normalize(&glob, true) &&
            surround(deeper ? "**/" : "", &glob, deeper ? "" : "/**", &law.globs[1]))
            law.n_globs = 2;
    }
    for (size_t i = 0; i < law.n_globs; i++)
        describe_glob(c, &law, i);
    if (law.law == BS_LAW_LENGTH) {
        char *text = malloc(law.length);
        if (text == NULL)
            abort();
        memset(text, 'a', law.length);
        bs_fuzz_case_open(c, "glob.match");
        bs_fuzz_case_text(c, "pattern", text, law.length);
        bs_fuzz_case_texts_open(c, "paths", true);
        bs_fuzz_case_texts_close(c);
        bs_fuzz_case_close(c);
        free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct bs_law_case law;
    bs_fuzz_begin(data, size);
    bs_gen_law(data, size, &law);
    switch (law.law) {
    case BS_LAW_LITERAL:
        judge_literal(&law, &law.path);
        judge_literal(&law, &law.other);
        break;
    case BS_LAW_EVERYTHING:
        judge_everything(&law);
        break;
    case BS_LAW_DEEPER:
    case BS_LAW_BELOW:
        judge_nested(&law);
        break;
    case BS_LAW_FOLD:
        judge_fold(&law);
        break;
    case BS_LAW_TOGETHER:
        judge_together(&law);
        break;
    case BS_LAW_LENGTH:
    case BS_LAWS:
        judge_length(&law);
    }
    return 0;
}
