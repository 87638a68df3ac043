/* Tests that many threads can use one profile at the same time. */
#define _GNU_SOURCE
#include <boxspec/profile.h>

#include <pthread.h>
#include <string.h>

#include "support/harness.h"
#include "support/profiles.h"

enum { THREADS = 16, ROUNDS = 200 };

struct job {
    pthread_t thread;
    const struct bs_profile *profile;
    unsigned number;
    bool good;
};

static bool is(const struct bs_decision *decision, bool allowed, const char *rule) {
    return decision->allowed == allowed && strcmp(decision->matched_rule, rule) == 0;
}

static bool ask_once(const struct bs_profile *profile, unsigned i) {
    static const struct {
        const char *path;
        bool allowed;
        const char *rule;
    } rows[] = {{"src/a.c", true, "src/**"},
                {"./src//x.o", false, "**/*.o"},
                {".state/cache/x", true, ".state/cache/**"},
                {".state/x", false, ".state/**"},
                {"docs", false, BS_NO_MATCHING_RULE}};
    struct bs_decision decision;
    struct bs_explanation explanation;
    struct bs_why_not why_not;
    size_t row = i % LENGTH(rows);
    size_t len = strlen(rows[row].path);
    if (bs_profile_check(profile, BS_OP_MODIFY, rows[row].path, len, &decision, NULL) != BS_OK ||
        !is(&decision, rows[row].allowed, rows[row].rule))
        return false;
    if (i % 8 != 0)
        return true;
    if (bs_profile_explain(profile, BS_OP_MODIFY, rows[row].path, len, &explanation, NULL) != BS_OK)
        return false;
    bool good = is(&explanation.decision, rows[row].allowed, rows[row].rule);
    bs_explanation_clear(&explanation);
    if (bs_profile_why_not(profile, BS_OP_MODIFY, rows[row].path, len, &why_not, NULL) != BS_OK)
        return false;
    good &= (why_not.n_remedies > 0) == !rows[row].allowed;
    bs_why_not_clear(&why_not);
    return good;
}

static void *query_in_thread(void *arg) {
    struct job *job = arg;
    job->good = true;
    for (unsigned i = 0; i < ROUNDS && job->good; i++)
        job->good = ask_once(job->profile, i + job->number);
    return NULL;
}

static void all_threads_get_the_same_answers(unsigned flags) {
    struct job jobs[THREADS];
    struct bs_profile *profile = profile_of("'denyModify':['.state/**','!.state/cache/**'],"
                                            "'fsProfiles':{'p':{'read':['**'],"
                                            "'modify':['src/**','!**/*.o','.state/cache/**']}}",
                                            NULL, "p", flags);
    for (unsigned i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){.profile = profile, .number = i};
        assert_int_equal(pthread_create(&jobs[i].thread, NULL, query_in_thread, &jobs[i]), 0);
    }
    bool good = true;
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(jobs[i].thread, NULL);
        good &= jobs[i].good;
    }
    assert_true(good);
    bs_profile_free(profile);
}

static void threads_can_share_a_profile(void **state) {
    (void)state;
    all_threads_get_the_same_answers(0);
}

static void threads_can_share_a_folding_profile(void **state) {
    (void)state;
    all_threads_get_the_same_answers(BS_FOLD);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_can_share_a_profile),
        cmocka_unit_test(threads_can_share_a_folding_profile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
