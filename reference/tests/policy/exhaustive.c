#include <stdlib.h>
#include <string.h>

#include "policy/match/automaton.h"
#include "policy/match/backtrack.h"
#include "policy/match/matcher.h"

#include "support/glob_oracle.h"
#include "support/harness.h"

/* All texts of up to `most` letters that are a glob or a path in normal form. */
struct texts {
    char (*items)[8];
    size_t *lens;
    size_t n;
};

static bool is_normal(const char *text, size_t len) {
    if (len == 1 && text[0] == '.')
        return true;
    size_t start = 0;
    for (size_t i = 0; i <= len; i++) {
        if (i < len && text[i] != '/')
            continue;
        size_t size = i - start;
        if (size == 0 || (size <= 2 && memcmp(text + start, "..", size) == 0))
            return false;
        start = i + 1;
    }
    return true;
}

static bool has_long_run(const char *text, size_t len) {
    for (size_t i = 0; i + 2 < len; i++) {
        if (memcmp(text + i, "***", 3) == 0)
            return true;
    }
    return false;
}

static void add_all(struct texts *texts, const char *letters, size_t shortest, size_t longest,
                    bool globs) {
    size_t n_letters = strlen(letters);
    for (size_t len = shortest; len <= longest; len++) {
        size_t count = 1;
        for (size_t i = 0; i < len; i++)
            count *= n_letters;
        texts->items = realloc(texts->items, (texts->n + count) * sizeof *texts->items);
        texts->lens = realloc(texts->lens, (texts->n + count) * sizeof *texts->lens);
        assert_non_null(texts->items);
        assert_non_null(texts->lens);
        for (size_t number = 0; number < count; number++) {
            char *text = texts->items[texts->n];
            size_t rest = number;
            for (size_t i = 0; i < len; i++, rest /= n_letters)
                text[i] = letters[rest % n_letters];
            text[len] = '\0';
            texts->lens[texts->n] = len;
            texts->n += is_normal(text, len) && !(globs && has_long_run(text, len));
        }
    }
}

static void clear(struct texts *texts) {
    free(texts->items);
    free(texts->lens);
}

struct world {
    struct texts globs;
    struct texts paths;
};

static int setup(void **state) {
    static struct world world;
    world = (struct world){0};
    add_all(&world.globs, "ab/*?.", 1, SLOW_BUILD ? 3 : 5, true);
    add_all(&world.paths, "ab/*?.", 1, 3, false);
    add_all(&world.paths, "ab/.", 4, 5, false);
    *state = &world;
    return 0;
}

static int teardown(void **state) {
    struct world *world = *state;
    clear(&world->globs);
    clear(&world->paths);
    return 0;
}

static const enum bs_tier tiers[] = {BS_TIER_TABLES, BS_TIER_INDEX, BS_TIER_LEAST_WORK,
                                     BS_TIER_AUTOMATON};

static void every_short_glob_decides_every_short_path_like_the_oracle(void **state) {
    const struct world *world = *state;
    for (size_t g = 0; g < world->globs.n; g++) {
        struct bs_pattern glob = {world->globs.items[g], world->globs.lens[g]};
        struct bs_matcher *matchers[LENGTH(tiers)];
        bool fits = bs_backtrack_fits(&glob);
        for (size_t t = 0; t < LENGTH(tiers); t++)
            assert_int_equal(bs_matcher_compile_from(tiers[t], &glob, 1, false, &matchers[t], NULL),
                             BS_OK);
        for (size_t p = 0; p < world->paths.n; p++) {
            const char *path = world->paths.items[p];
            size_t len = world->paths.lens[p];
            bool expected = bs_oracle_glob_matches(glob.text, glob.len, path, len);
            for (size_t t = 0; t < LENGTH(tiers); t++) {
                if ((bs_matcher_highest(matchers[t], path, len) == 0) != expected)
                    fail_msg("tier %d: `%s` and `%s`: expected %d", (int)tiers[t], glob.text, path,
                             expected);
            }
            if (fits && bs_backtrack_matches(&glob, path, len) != expected)
                fail_msg("backtracking: `%s` and `%s`: expected %d", glob.text, path, expected);
        }
        for (size_t t = 0; t < LENGTH(tiers); t++)
            bs_matcher_free(matchers[t]);
    }
}

static void of_several_globs_the_highest_decides(void **state) {
    const struct world *world = *state;
    enum { TOGETHER = 60 };
    for (size_t first = 0; first + TOGETHER <= world->globs.n; first += TOGETHER / 2) {
        struct bs_pattern globs[TOGETHER];
        struct bs_matcher *matchers[LENGTH(tiers)];
        /* Take globs from distant places of the list, so that the globs of a group differ much. */
        for (size_t i = 0; i < TOGETHER; i++) {
            size_t at = (first + i * 1237) % world->globs.n;
            globs[i] = (struct bs_pattern){world->globs.items[at], world->globs.lens[at]};
        }
        for (size_t t = 0; t < LENGTH(tiers); t++)
            assert_int_equal(
                bs_matcher_compile_from(tiers[t], globs, TOGETHER, false, &matchers[t], NULL),
                BS_OK);
        for (size_t p = first % 7; p < world->paths.n; p += 7) {
            const char *path = world->paths.items[p];
            size_t len = world->paths.lens[p];
            ptrdiff_t expected = TOGETHER - 1;
            while (expected >= 0 &&
                   !bs_oracle_glob_matches(globs[expected].text, globs[expected].len, path, len))
                expected--;
            for (size_t t = 0; t < LENGTH(tiers); t++)
                assert_int_equal(bs_matcher_highest(matchers[t], path, len), expected);
        }
        for (size_t t = 0; t < LENGTH(tiers); t++)
            bs_matcher_free(matchers[t]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_short_glob_decides_every_short_path_like_the_oracle),
        cmocka_unit_test(of_several_globs_the_highest_decides),
    };
    return cmocka_run_group_tests_name("policy/exhaustive", tests, setup, teardown);
}
