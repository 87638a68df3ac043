#define _GNU_SOURCE
#include "support/holdings.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/harness.h"

static unsigned entries(const char *path, int *highest) {
    DIR *dir = opendir(path);
    assert_non_null(dir);
    unsigned n = 0;
    const struct dirent *entry = NULL;
    while ((entry = readdir(dir)) != NULL) {
        int number = (int)strtol(entry->d_name, NULL, 10);
        if (entry->d_name[0] == '.' || number == dirfd(dir))
            continue;
        n++;
        if (number > *highest)
            *highest = number;
    }
    (void)closedir(dir);
    return n;
}

static void *store_thread_id(void *arg) {
    *(pid_t *)arg = gettid();
    return NULL;
}

/* Start a thread and join it before anything is counted, because the thread sanitizer starts a
 * thread of its own together with the first thread of a program. */
static void make_first_thread(void) {
    static bool made;
    pthread_t thread;
    pid_t tid = 0;
    if (made)
        return;
    made = true;
    assert_int_equal(pthread_create(&thread, NULL, store_thread_id, &tid), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    while (tgkill(getpid(), tid, 0) == 0)
        (void)sched_yield();
}

struct holdings holdings_now(void) {
    int ignored = 0;
    make_first_thread();
    return (struct holdings){.descriptors = entries("/proc/self/fd", &ignored),
                             .threads = entries("/proc/self/task", &ignored)};
}

bool has_children(void) {
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

void assert_nothing_left(struct holdings before) {
    struct holdings after = holdings_now();
    assert_int_equal(after.descriptors, before.descriptors);
    /* A joined thread may still be in /proc for a moment after pthread_join, so count again. */
    for (int looks = 0; after.threads > before.threads && looks < 1000; looks++)
        after = holdings_now();
    assert_int_equal(after.threads, before.threads);
    assert_false(has_children());
}

int first_free_above_all(void) {
    int highest = 0;
    (void)entries("/proc/self/fd", &highest);
    return highest + 1;
}

int remember_holdings(void **state) {
    static struct holdings before;
    before = holdings_now();
    *state = &before;
    return 0;
}

int assert_nothing_left_since(void **state) {
    assert_nothing_left(*(const struct holdings *)*state);
    return 0;
}
