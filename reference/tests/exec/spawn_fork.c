#define _GNU_SOURCE
#include "exec/spawn_fork.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/sys.h"
#include "support/harness.h"
#include "support/holdings.h"

struct spawned {
    int os_error;
    enum bs_spawn_step step;
    pid_t pid;
    siginfo_t end;
    struct bs_bytes out;
    struct bs_bytes err;
};

static struct bs_bytes read_all(int fd) {
    struct bs_buf text = BS_BUF_INIT;
    char chunk[512];
    ssize_t n = 0;
    while ((n = read(fd, chunk, sizeof chunk)) > 0)
        bs_buf_add(&text, chunk, (size_t)n);
    assert_int_equal(n, 0);
    bs_buf_add(&text, "", 0);
    return bs_buf_take(&text);
}

/* Start the child with pipes, reap it and read its output. */
static struct spawned spawn(const char *path, const char *const *argv, int cwd) {
    char *envp[] = {(char[]){"GREETING=hello"}, NULL};
    struct spawned spawned = {.pid = -1};
    int out[2];
    int err[2];
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(pipe2(err, O_CLOEXEC), 0);
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct bs_spawn_args launch = {
        path, (char *const *)(uintptr_t)argv, envp, cwd, in, out[1], err[1], -1, -1, false};
    spawned.os_error = bs_spawn_fork(&launch, &spawned.pid, &spawned.step);
    bs_close(&out[1]);
    bs_close(&err[1]);
    bs_close(&in);
    spawned.out = read_all(out[0]);
    spawned.err = read_all(err[0]);
    bs_close(&out[0]);
    bs_close(&err[0]);
    if (spawned.os_error == 0)
        assert_int_equal(BS_RETRY(waitid(P_PID, (id_t)spawned.pid, &spawned.end, WEXITED)), 0);
    return spawned;
}

static struct spawned spawn_shell(const char *script, int cwd) {
    return spawn("/bin/sh", (const char *[]){"sh", "-c", script, NULL}, cwd);
}

static void forget(struct spawned *spawned) {
    bs_bytes_clear(&spawned->out);
    bs_bytes_clear(&spawned->err);
}

static void a_child_runs_with_its_streams_and_environment(void **state) {
    (void)state;
    struct holdings before = holdings_now();
    struct spawned spawned = spawn_shell("echo $GREETING; echo oops >&2; read x || exit 7", -1);
    assert_int_equal(spawned.os_error, 0);
    assert_string_equal(spawned.out.data, "hello\n");
    assert_string_equal(spawned.err.data, "oops\n");
    assert_int_equal(spawned.end.si_code, CLD_EXITED);
    assert_int_equal(spawned.end.si_status, 7);
    forget(&spawned);
    assert_nothing_left(before);
}

static void the_child_leads_its_own_group(void **state) {
    (void)state;
    struct spawned spawned =
        spawn_shell("read -r pid name st ppid pgid rest </proc/$$/stat; test $pid = $pgid", -1);
    assert_int_equal(spawned.os_error, 0);
    assert_int_equal(spawned.end.si_status, 0);
    forget(&spawned);
}

static void a_missing_program_is_reported_and_the_child_reaped(void **state) {
    (void)state;
    struct holdings before = holdings_now();
    struct spawned spawned = spawn("/no/such/program", (const char *[]){"x", NULL}, -1);
    assert_int_equal(spawned.os_error, ENOENT);
    assert_int_equal(spawned.step, BS_STEP_NONE);
    assert_nothing_left(before);
    forget(&spawned);
    spawned = spawn("/", (const char *[]){"x", NULL}, -1);
    assert_int_equal(spawned.os_error, EACCES);
    assert_nothing_left(before);
    forget(&spawned);
    spawned = spawn("/etc/passwd/x", (const char *[]){"x", NULL}, -1);
    assert_int_equal(spawned.os_error, ENOTDIR);
    assert_nothing_left(before);
    forget(&spawned);
}

static void a_directory_is_entered_before_the_program_runs(void **state) {
    (void)state;
    int cwd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct spawned spawned = spawn_shell("pwd", cwd);
    assert_int_equal(spawned.os_error, 0);
    assert_string_equal(spawned.out.data, "/proc\n");
    forget(&spawned);
    bs_close(&cwd);
}

static void a_bad_directory_is_reported_as_the_childs_error(void **state) {
    (void)state;
    struct holdings before = holdings_now();
    int cwd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct spawned spawned = spawn_shell("echo never", cwd);
    assert_int_equal(spawned.os_error, ENOTDIR);
    assert_int_equal(spawned.step, BS_STEP_DIRECTORY);
    assert_int_equal(spawned.out.len, 0);
    forget(&spawned);
    bs_close(&cwd);
    assert_nothing_left(before);
}

static bool no_groups;
int __real_setpgid(pid_t pid, pid_t pgid);
int __wrap_setpgid(pid_t pid, pid_t pgid);

int __wrap_setpgid(pid_t pid, pid_t pgid) {
    if (!no_groups)
        return __real_setpgid(pid, pgid);
    errno = EPERM;
    return -1;
}

static void each_step_that_fails_has_its_name(void **state) {
    (void)state;
    char *argv[] = {(char[]){"true"}, NULL};
    char *envp[] = {NULL};
    struct holdings before = holdings_now();
    int good = open("/dev/null", O_RDWR | O_CLOEXEC);
    /* A number that no descriptor of the test or of the child has. */
    int bad = first_free_above_all() + 64;
    const struct {
        struct bs_spawn_args launch;
        bool no_groups;
        int os_error;
        enum bs_spawn_step step;
    } rows[] = {
        {{"/bin/true", argv, envp, -1, good, good, good, -1, -1, false},
         true,
         EPERM,
         BS_STEP_GROUP},
        {{"/bin/true", argv, envp, good, good, good, good, -1, -1, false},
         false,
         ENOTDIR,
         BS_STEP_DIRECTORY},
        {{"/bin/true", argv, envp, -1, bad, good, good, -1, -1, false},
         false,
         EBADF,
         BS_STEP_STDIN},
        {{"/bin/true", argv, envp, -1, good, bad, good, -1, -1, false},
         false,
         EBADF,
         BS_STEP_STDOUT},
        {{"/bin/true", argv, envp, -1, good, good, bad, -1, -1, false},
         false,
         EBADF,
         BS_STEP_STDERR},
        {{"/bin/true", argv, envp, -1, good, good, good, -1, bad, false},
         false,
         EBADF,
         BS_STEP_ANNOUNCE},
        {{"/no/such", argv, envp, -1, good, good, good, -1, -1, false},
         false,
         ENOENT,
         BS_STEP_NONE},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        pid_t pid = -1;
        enum bs_spawn_step step = BS_STEP_NONE;
        no_groups = rows[i].no_groups;
        assert_int_equal(bs_spawn_fork(&rows[i].launch, &pid, &step), rows[i].os_error);
        no_groups = false;
        assert_int_equal(step, rows[i].step);
    }
    bs_close(&good);
    assert_nothing_left(before);
}

static volatile sig_atomic_t handled;
static void handle(int signo) {
    (void)signo;
    handled = handled + 1;
}

/* Read a set of signals (ignored, caught or blocked) from the status file of the child. */
static unsigned long long set_of(const struct spawned *spawned, const char *field) {
    const char *line = strstr(spawned->out.data, field);
    assert_non_null(line);
    return strtoull(line + strlen(field), NULL, 16);
}

static unsigned long long bit(int signo) { return 1ULL << (signo - 1); }

static void dispositions_are_those_of_the_contract(void **state) {
    (void)state;
    static const int ignored[] = {SIGINT, SIGTERM, SIGPIPE, SIGHUP};
    struct sigaction before[LENGTH(ignored)];
    struct sigaction before_usr1;
    struct sigaction action = {.sa_handler = SIG_IGN};
    for (size_t i = 0; i < LENGTH(ignored); i++)
        (void)sigaction(ignored[i], &action, &before[i]);
    action.sa_handler = handle;
    (void)sigaction(SIGUSR1, &action, &before_usr1);
    struct spawned spawned =
        spawn("/bin/cat", (const char *[]){"cat", "/proc/self/status", NULL}, -1);
    for (size_t i = 0; i < LENGTH(ignored); i++)
        (void)sigaction(ignored[i], &before[i], NULL);
    (void)sigaction(SIGUSR1, &before_usr1, NULL);
    assert_int_equal(spawned.os_error, 0);
    unsigned long long left = set_of(&spawned, "SigIgn:");
    assert_true((left & (bit(SIGINT) | bit(SIGTERM) | bit(SIGPIPE))) == 0);
    assert_true((left & bit(SIGHUP)) != 0);
    assert_true(set_of(&spawned, "SigCgt:") == 0);
    forget(&spawned);
}

static void child_and_parent_have_the_callers_mask(void **state) {
    (void)state;
    sigset_t mine;
    sigset_t before;
    sigset_t after;
    (void)sigemptyset(&mine);
    (void)sigaddset(&mine, SIGUSR2);
    (void)sigaddset(&mine, SIGWINCH);
    (void)pthread_sigmask(SIG_SETMASK, &mine, &before);
    struct spawned spawned =
        spawn("/bin/cat", (const char *[]){"cat", "/proc/self/status", NULL}, -1);
    (void)pthread_sigmask(SIG_SETMASK, &before, &after);
    assert_int_equal(spawned.os_error, 0);
    assert_true(set_of(&spawned, "SigBlk:") == (bit(SIGUSR2) | bit(SIGWINCH)));
    for (int signo = 1; signo < SIGRTMIN; signo++)
        assert_int_equal(sigismember(&after, signo), sigismember(&mine, signo));
    forget(&spawned);
}

static void no_library_descriptor_stays_open_in_the_child(void **state) {
    (void)state;
    /* Check every number that is free now. The other descriptors may have been inherited from the
     * parent of this test, without close-on-exec. */
    struct bs_buf script = BS_BUF_INIT;
    bs_buf_str(&script, "for n in");
    for (uint64_t n = 3; n < 64; n++) {
        if (fcntl((int)n, F_GETFD) != -1)
            continue;
        bs_buf_char(&script, ' ');
        bs_buf_u64(&script, n);
    }
    bs_buf_str(&script, "; do test ! -e /proc/$$/fd/$n || echo $n; done");
    struct bs_bytes text = bs_buf_take(&script);
    struct spawned spawned = spawn_shell(text.data, -1);
    assert_int_equal(spawned.os_error, 0);
    assert_string_equal(spawned.out.data != NULL ? spawned.out.data : "", "");
    forget(&spawned);
    bs_bytes_clear(&text);
}

static void probing_clone3_starts_no_process(void **state) {
    (void)state;
    (void)bs_clone3_refused();
    assert_false(has_children());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_runs_with_its_streams_and_environment),
        cmocka_unit_test(the_child_leads_its_own_group),
        cmocka_unit_test(a_missing_program_is_reported_and_the_child_reaped),
        cmocka_unit_test(a_directory_is_entered_before_the_program_runs),
        cmocka_unit_test(a_bad_directory_is_reported_as_the_childs_error),
        cmocka_unit_test(each_step_that_fails_has_its_name),
        cmocka_unit_test(dispositions_are_those_of_the_contract),
        cmocka_unit_test(child_and_parent_have_the_callers_mask),
        cmocka_unit_test(no_library_descriptor_stays_open_in_the_child),
        cmocka_unit_test(probing_clone3_starts_no_process),
    };
    return cmocka_run_group_tests_name("exec/spawn_fork", tests, NULL, NULL);
}
