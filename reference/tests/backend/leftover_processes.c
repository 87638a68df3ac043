/* Tests that the launcher finds leftover processes without namespaces, and even if /proc cannot be
 * read. */
#define _GNU_SOURCE
#include "backend/launch/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

/* HIDING: /proc shows only the reader itself, as with hidepid=2 to a user whose other processes
 * are not dumpable. */
static enum { NOTHING, DIRECTORY, LISTING, FILES, HIDING } fails;

DIR *__wrap_opendir(const char *path) {
    errno = EMFILE;
    return fails == DIRECTORY ? NULL : __real_opendir(path);
}

static bool is_hidden(const struct dirent *entry) {
    long pid = entry != NULL ? strtol(entry->d_name, NULL, 10) : 0;
    return fails == HIDING && pid != 0 && pid != getpid();
}

struct dirent *__wrap_readdir(DIR *list) {
    if (fails != LISTING) {
        struct dirent *entry = __real_readdir(list);
        while (is_hidden(entry))
            entry = __real_readdir(list);
        return entry;
    }
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
    for (int i = NOTHING; i <= HIDING; i++) {
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

/* Fork a process that stops itself, and wait for the stop. The process closes its descriptors above
 * 2, except for a copy of `kept`. If `kept` is negative, it closes all. Returns false on failure.
 */
static bool fork_holder(int kept, bool dumpable) {
    enum { OTHER_NUMBER = 100 };
    pid_t pid = fork();
    if (pid == 0) {
        if (kept >= 0)
            (void)dup2(kept, OTHER_NUMBER);
        for (int fd = 3; fd < OTHER_NUMBER; fd++)
            (void)close(fd);
        (void)prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0);
        (void)kill(getpid(), SIGSTOP);
    }
    return pid > 0 && waitpid(pid, NULL, WUNTRACED) == pid;
}

/* Root with its capabilities sees the descriptors of every process. */
static bool drop_capabilities(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    return syscall(SYS_capset, &header, none) == 0;
}

/* Make two outputs and a process that holds one of them, or none if `kept` is negative, and kill
 * the process. Returns true if the expected outputs are found before and during the kill, and if no
 * writer is left after it. */
static bool finds_holder(int kept, bool dumpable, unsigned expected) {
    struct outputs outputs = {.n = 0};
    int ends[4];
    if (pipe2(ends, O_CLOEXEC) != 0 || pipe2(ends + 2, O_CLOEXEC) != 0)
        return false;
    outputs_note(&outputs, ends[1], ends[3]);
    /* The caller is a writer itself. That must not count for a process that shows its files. */
    bool good = outputs_with_writer(&outputs) == (BS_STDOUT | BS_STDERR) && fork_holder(-1, true) &&
                kill_leftover_processes(true, &outputs) == 0 &&
                fork_holder(kept >= 0 ? ends[kept] : -1, dumpable);
    for (int i = 0; i < 4; i++)
        bs_close(&ends[i]);
    return good && outputs_held(&outputs) == expected &&
           kill_leftover_processes(true, &outputs) == expected &&
           outputs_with_writer(&outputs) == 0;
}

/* Return 0, or the number of the check that failed, as find_and_kill does. */
static int find_writer(void) {
    enum { OUT = 1, ERR = 3 };
    if (!finds_holder(-1, true, 0))
        return 1;
    if (!finds_holder(OUT, true, BS_STDOUT))
        return 2;
    if (!drop_capabilities())
        return 3;
    if (!finds_holder(-1, false, 0))
        return 4;
    if (!finds_holder(OUT, false, BS_STDOUT))
        return 5;
    return finds_holder(ERR, false, BS_STDERR) ? 0 : 6;
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
