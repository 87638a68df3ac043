/* Tests the first compile with folding of a process, which many threads start at the same time. */
#define _GNU_SOURCE
#include <pthread.h>

#include "sbpl/compiling.h"

enum { THREADS = 8 };

struct job {
    pthread_t thread;
    pthread_barrier_t *start;
    const struct bs_profile *profile;
    struct bs_sbpl sbpl;
    int code;
};

static void *compile_at_once(void *arg) {
    struct job *job = arg;
    struct bs_sbpl_input input = AT("/w");
    input.profile = job->profile;
    (void)pthread_barrier_wait(job->start);
    job->code = bs_sbpl_compile(&input, &job->sbpl, NULL);
    return NULL;
}

static void all_threads_get_the_same_text(void **state) {
    (void)state;
    struct job jobs[THREADS];
    pthread_barrier_t start;
    struct bs_profile *profile =
        profile_of(PROFILE("'**','!\\u00e9/k'", "'stra\\u00dfe/**'"), NULL, "p", BS_FOLD);
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){.start = &start, .profile = profile, .sbpl = BS_SBPL_INIT};
        assert_int_equal(pthread_create(&jobs[i].thread, NULL, compile_at_once, &jobs[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        (void)pthread_join(jobs[i].thread, NULL);
    (void)pthread_barrier_destroy(&start);
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(jobs[i].code, BS_OK);
        assert_non_null(strstr(jobs[i].sbpl.text.data, "(\u00e9|E\u0301|"));
        assert_string_equal(jobs[i].sbpl.text.data, jobs[0].sbpl.text.data);
    }
    for (unsigned i = 0; i < THREADS; i++)
        bs_sbpl_clear(&jobs[i].sbpl);
    bs_profile_free(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_threads_get_the_same_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
