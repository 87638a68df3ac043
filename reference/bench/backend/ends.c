/* Measures how long the kernel takes to end namespaces: from the last clock reading of pid 1 until
 * the process that made the namespaces returns from its wait.
 *
 * ends [ROUNDS [MEMBERS]] */
#define _GNU_SOURCE
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ROUNDS = 10000 };

static int64_t now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Runs as the first process in the namespaces. With a pid namespace it is pid 1, and the other
 * processes in it end together with this one. */
static void end_last(int out, int members) {
    for (int i = 0; i < members; i++) {
        if (fork() == 0) {
            (void)close(out);
            (void)pause();
            _exit(0);
        }
    }
    int64_t at = now_ns();
    _exit(write(out, &at, sizeof at) == (ssize_t)sizeof at ? 0 : 1);
}

/* Return nanoseconds, or -1 if the namespaces cannot be made. */
static int64_t one_round(int flags, int members) {
    int ends[2];
    int64_t began = 0;
    if (pipe(ends) != 0)
        return -1;
    pid_t maker = fork();
    if (maker == 0) {
        (void)close(ends[0]);
        if (unshare(flags) != 0)
            _exit(1);
        pid_t first = fork();
        if (first == 0)
            end_last(ends[1], members);
        (void)close(ends[1]);
        (void)waitpid(first, NULL, 0);
        _exit(0);
    }
    (void)close(ends[1]);
    bool told = read(ends[0], &began, sizeof began) == (ssize_t)sizeof began;
    (void)waitpid(maker, NULL, 0);
    (void)close(ends[0]);
    return told ? now_ns() - began : -1;
}

static int by_length(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool measure(const char *name, int flags, int rounds, int members) {
    static int64_t took[MOST_ROUNDS];
    for (int i = 0; i < rounds; i++) {
        took[i] = one_round(flags, members);
        if (took[i] < 0) {
            (void)fprintf(stderr, "ends: %s: cannot be had here; run it as root\n", name);
            return false;
        }
    }
    qsort(took, (size_t)rounds, sizeof *took, by_length);
    const int ranks[] = {rounds / 2, rounds * 9 / 10, rounds * 99 / 100, rounds - 1};
    (void)printf("%-22s", name);
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        (void)printf(" %9.2f", (double)took[ranks[i]] / 1e6);
    (void)printf("\n");
    return true;
}

/* Return -1 unless the text is a number from `least` to `most`. */
static int number(const char *text, int least, int most) {
    char *end = NULL;
    long value = strtol(text, &end, 10);
    return end != text && *end == '\0' && value >= least && value <= most ? (int)value : -1;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? number(argv[1], 1, MOST_ROUNDS) : 400;
    int members = argc > 2 ? number(argv[2], 0, 100) : 3;
    if (argc > 3 || rounds < 0 || members < 0) {
        (void)fprintf(stderr, "usage: ends [ROUNDS (1 to 10000) [MEMBERS (0 to 100)]]\n");
        return 2;
    }
    const int most = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;
    (void)printf("%-22s %9s %9s %9s %9s  ms, %d rounds, %d members\n", "namespaces", "median",
                 "p90", "p99", "longest", rounds, members);
    /* Only a pid namespace ends its members. The first two cases have no pid namespace, so they
     * start no members. */
    bool good = measure("none", 0, rounds, 0) && measure("net", CLONE_NEWNET, rounds, 0) &&
                measure("pid", CLONE_NEWPID, rounds, members) &&
                measure("pid, mnt, ipc, uts", most, rounds, members) &&
                measure("the same and net", most | CLONE_NEWNET, rounds, members);
    return good ? 0 : 1;
}
