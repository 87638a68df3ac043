/* Measures the stack that a check uses. The check runs on a stack that was filled with a pattern.
 * Bytes that still have the pattern afterwards were not used. */
#define _GNU_SOURCE
#include <boxspec/glob.h>
#include <boxspec/profile.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "support/harness.h"
#include "support/profiles.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* The stack is so large because the thread sanitizer needs 900 KiB for itself. */
enum { STACK = 2 * 1024 * 1024, PAINT = 0xA5, LONG = 100000 };

struct question {
    const struct bs_profile *profile; /* NULL: `glob` is used instead */
    const struct bs_glob *glob;
    const char *path;
    size_t len;
    int code;
};

static void *answer(void *context) {
    static struct bs_decision decision;
    struct question *question = context;
    bool matched = false;
    if (question->profile != NULL) {
        question->code = bs_profile_check(question->profile, BS_OP_MODIFY, question->path,
                                          question->len, &decision, NULL);
        if (question->code == BS_OK)
            bs_decision_clear(&decision);
    } else if (question->glob != NULL) {
        question->code =
            bs_glob_match(question->glob, question->path, question->len, &matched, NULL);
    }
    return NULL;
}

/* Return the number of bytes of the stack that were used. The lowest byte that has lost the pattern
 * shows how deep the stack was. */
static size_t used_by(struct question *question) {
    unsigned char *stack =
        mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    pthread_attr_t attributes;
    pthread_t thread;
    assert_ptr_not_equal(stack, MAP_FAILED);
    memset(stack, PAINT, STACK);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, answer, question), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    size_t untouched = 0;
    while (untouched < STACK && stack[untouched] == PAINT)
        untouched++;
    munmap(stack, STACK);
    return STACK - untouched;
}

/* Check the stack that a question uses. The stack of a thread that makes no check is subtracted,
 * because the thread itself uses stack too. */
static void assert_within(struct question *question, size_t most, size_t least) {
    struct question nothing = {0};
    /* Make one call before the measurement, because the loader resolves symbols during the first
     * call. */
    (void)answer(question);
    size_t used = used_by(question) - used_by(&nothing);
    assert_int_equal(question->code, BS_OK);
    if (getenv("BOXSPEC_SHOW") != NULL)
        print_message("%zu bytes of stack for a path of %zu bytes\n", used, question->len);
    if (!SANITIZED)
        assert_in_range(used, least, most);
}

/* Make a path that has non-ASCII characters, so that folding uses its whole buffer. */
static char *make_path(size_t len) {
    char *path = malloc(len + 1);
    assert_non_null(path);
    memset(path, 'x', len);
    for (size_t i = 0; i + 3 < len; i += 3)
        memcpy(path + i, "\u00e4/", 3);
    path[len] = '\0';
    return path;
}

/* Make a profile with rules of every tier. `crossing` is the number of rules with a `**` inside a
 * name; with enough of them the automaton has its largest size. */
static struct bs_profile *make_profile(size_t crossing, unsigned flags) {
    enum { ROOM = 64 };
    char *spec = malloc((crossing + 100) * ROOM);
    assert_non_null(spec);
    size_t used = (size_t)sprintf(spec, "'denyModify':['src/**','!src/cache/**','**/*.env'],"
                                        "'fsProfiles':{'p':{'read':['**'],'modify':['**'");
    for (size_t i = 0; i < 60; i++)
        used += (size_t)sprintf(spec + used, ",'d%zu/*/x*.c','**/n%zu/**'", i, i);
    for (size_t i = 0; i < crossing; i++)
        used += (size_t)sprintf(spec + used, ",'a%07zu**bcdefghijklmnopqrstuvwxyz**c'", i);
    (void)sprintf(spec + used, "]}}");
    struct bs_profile *profile = profile_of(spec, NULL, "p", flags);
    free(spec);
    return profile;
}

static void a_check_stays_within_its_stack_bound(void **state) {
    (void)state;
    static const size_t lengths[] = {40, BS_CHECK_PATH_BYTES, LONG};
    /* with so many rules of 36 states the automaton is as large as possible */
    enum { FULL = 3500 };
    for (size_t i = 0; i < 2 * 2 * LENGTH(lengths); i++) {
        size_t len = lengths[i / 4];
        unsigned flags = i % 2 == 0 ? 0 : BS_FOLD;
        size_t crossing = i / 2 % 2 == 0 ? 0 : FULL;
        struct bs_profile *profile = make_profile(crossing, flags);
        char *path = make_path(len);
        struct question question = {.profile = profile, .path = path, .len = len};
        /* The automaton has a set of 15.4 KiB then. Folding needs 24 KiB. */
        size_t least = crossing > 0 ? 15000 : flags != 0 ? 24000 : 0;
        assert_within(&question, BS_CHECK_STACK_BYTES, len > BS_CHECK_PATH_BYTES ? 0 : least);
        free(path);
        bs_profile_free(profile);
    }
}

static void an_ordinary_check_needs_little_stack(void **state) {
    (void)state;
    struct bs_profile *profile = make_profile(0, 0);
    struct question question = {.profile = profile, .path = "src/lib/x.c", .len = 11};
    assert_within(&question, 1024, 0);
    bs_profile_free(profile);
}

static void a_glob_stays_within_its_stack_bound(void **state) {
    (void)state;
    static const size_t lengths[] = {40, BS_GLOB_PATH_BYTES, LONG};
    static char pattern[BS_GLOB_MOST_BYTES];
    memset(pattern, '?', sizeof pattern);
    pattern[0] = '*';
    for (size_t i = 0; i < 2 * LENGTH(lengths); i++) {
        struct bs_glob *glob = NULL;
        assert_int_equal(bs_glob_compile(pattern, sizeof pattern,
                                         i % 2 == 0 ? BS_CASE_SENSITIVE : BS_CASE_FOLD, &glob,
                                         NULL),
                         BS_OK);
        char *path = make_path(lengths[i / 2]);
        struct question question = {.glob = glob, .path = path, .len = lengths[i / 2]};
        assert_within(&question, BS_GLOB_STACK_BYTES, 8000);
        free(path);
        bs_glob_free(glob);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_check_stays_within_its_stack_bound),
        cmocka_unit_test(an_ordinary_check_needs_little_stack),
        cmocka_unit_test(a_glob_stays_within_its_stack_bound),
    };
    return cmocka_run_group_tests_name("policy/stack", tests, NULL, NULL);
}
