/* Tests that the launcher finds leftover processes without namespaces, and even if /proc cannot be
 * read. */
#define _GNU_SOURCE
#include "backend/launch/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "support/harness.h"
#include "support/holdings.h"

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
struct dirent *__real_readdir(DIR *list);
struct dirent *__wrap_readdir(DIR *list);
int __real_openat(int dir, const char *path, int flags, ...);
int __wrap_openat(int dir, const char *path, int flags, ...);

static enum { NOTHING, DIRECTORY, LISTING, FILES } fails;

DIR *__wrap_opendir(const char *path) {
    errno = EMFILE;
    return fails == DIRECTORY ? NULL : __real_opendir(path);
}

struct dirent *__wrap_readdir(DIR *list) {
    if (fails != LISTING)
        return __real_readdir(list);
    errno = EIO;
    return NULL;
}

int __wrap_openat(int dir, const char *path, int flags, ...) {
    errno = ENFILE;
    return fails == FILES ? -1 : __real_openat(dir, path, flags);
}

/* Start a child that runs until it is killed, in the caller's group or in a group of its own. */
static pid_t waiting_child(bool in_group) {
    pid_t pid = fork();
    if (pid == 0) {
        for (;;)
            (void)pause();
    }
    if (pid > 0 && !in_group)
        (void)setpgid(pid, pid);
    return pid;
}

static bool is_alive(pid_t pid) { return waitpid(pid, NULL, WNOHANG) == 0; }

/* Return 0, or the number of the check that failed. The process exits with this number. */
static int find_and_kill(void) {
    static const struct outputs none = {.n = 0};
    if (group_may_have_others())
        return 1;
    pid_t member = waiting_child(true);
    pid_t stray = waiting_child(false);
    if (member < 0 || stray < 0)
        return 2;
    if (!group_may_have_others())
        return 3;
    (void)kill_leftover_processes(false, &none);
    if (waitpid(stray, NULL, 0) != stray)
        return 4;
    if (!is_alive(member))
        return 5;
    stray = waiting_child(false);
    (void)kill_leftover_processes(true, &none);
    if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
        return 6;
    return group_may_have_others() ? 7 : 0;
}

/* Lead a session and become the subreaper of all descendants, as the launcher does. */
static void lead(int (*check)(void)) {
    sigset_t all;
    (void)alarm(120);
    if (setsid() == -1 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
        _exit(99);
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGALRM);
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    _exit(check());
}

static void leftover_processes_are_found_without_proc(void **state) {
    (void)state;
    for (int i = NOTHING; i <= FILES; i++) {
        int status = 0;
        fails = (unsigned)i;
        pid_t pid = fork();
        if (pid == 0)
            lead(find_and_kill);
        fails = NOTHING;
        assert_true(pid > 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        (void)kill(-pid, SIGKILL);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            fail_msg("with %d failing: wait status %#x", i, (unsigned)status);
    }
}

/* Return 0, or the number of the check that failed, as find_and_kill does. Of the two leftover
 * processes, only the second holds the output, under another descriptor number than the caller. */
static int find_writer(void) {
    struct outputs outputs = {.n = 0};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return 1;
    outputs_note(&outputs, ends[1], ends[1]);
    if (outputs.n != 2)
        return 2;
    pid_t other = fork();
    if (other == 0) {
        bs_close(&ends[0]);
        bs_close(&ends[1]);
        (void)kill(getpid(), SIGSTOP);
    }
    if (other < 0 || waitpid(other, NULL, WUNTRACED) != other)
        return 3;
    if (outputs_are_held(&outputs) || kill_leftover_processes(true, &outputs))
        return 4;
    pid_t writer = fork();
    if (writer == 0) {
        (void)dup2(ends[1], 100);
        bs_close(&ends[0]);
        bs_close(&ends[1]);
        (void)kill(getpid(), SIGSTOP);
    }
    if (writer < 0 || waitpid(writer, NULL, WUNTRACED) != writer)
        return 5;
    bs_close(&ends[0]);
    bs_close(&ends[1]);
    if (!outputs_are_held(&outputs) || !kill_leftover_processes(true, &outputs))
        return 6;
    return outputs_are_held(&outputs) ? 7 : 0;
}

static void a_killed_writer_is_noticed(void **state) {
    (void)state;
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        lead(find_writer);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    (void)kill(-pid, SIGKILL);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {leaves_nothing(leftover_processes_are_found_without_proc),
                                       leaves_nothing(a_killed_writer_is_noticed)};
    return cmocka_run_group_tests_name("backend/leftover_processes", tests, NULL, NULL);
}
