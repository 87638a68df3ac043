/* Tests closing ranges of descriptors, with the kernel's call and without it. */
#define _GNU_SOURCE
#include "base/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "support/harness.h"
#include "support/holdings.h"

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);

static struct host {
    bool knows_the_call;
    bool has_no_proc;
    bool cannot_list;
    bool cannot_mark;
} host;

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
    bool fails = (number == SYS_close_range && !host.knows_the_call) ||
                 (number == SYS_getdents64 && host.cannot_list);
    if (!fails)
        return __real_syscall(number, a, b, c, d, e, f);
    errno = number == SYS_close_range ? EPERM : EIO;
    return -1;
}

int __wrap_open(const char *path, int flags, ...) {
    errno = EMFILE;
    return host.has_no_proc ? -1 : __real_open(path, flags);
}

int __wrap_fcntl(int fd, int command, ...) {
    va_list args;
    va_start(args, command);
    int argument = va_arg(args, int);
    va_end(args);
    errno = EIO;
    return host.cannot_mark && command == F_SETFD ? -1 : __real_fcntl(fd, command, argument);
}

enum { FIRST = 10, LAST = 900 };

/* This runs in a child. Open many descriptors with gaps between them, close the descriptors from
 * FIRST on, and count the open ones. Descriptors of the test itself, for example of a sanitizer's
 * log, are closed too. */
static int closes(bool on_exec) {
    static const int numbers[] = {FIRST - 1, FIRST, FIRST + 1, 17, 40, 100, 101, 500, LAST};
    for (int i = 200; i < 400; i++)
        (void)dup2(0, i);
    for (size_t i = 0; i < LENGTH(numbers); i++) {
        if (dup2(0, numbers[i]) != numbers[i])
            return 100;
    }
    int os_error = bs_close_from(FIRST, on_exec);
    if (os_error != 0)
        return os_error;
    for (int fd = 0; fd <= LAST; fd++) {
        int flags = __real_fcntl(fd, F_GETFD, 0);
        if (fd >= FIRST && flags != -1 && !(on_exec && (flags & FD_CLOEXEC) != 0))
            return 101;
        if (fd == FIRST - 1 && (flags == -1 || (flags & FD_CLOEXEC) != 0))
            return 102;
        if (on_exec && fd == LAST && flags == -1)
            return 103;
    }
    return 0;
}

static int status_on(struct host given, bool on_exec) {
    int status = 0;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(null, 0);
        host = given;
        _exit(closes(on_exec));
    }
    bs_close(&null);
    assert_true(pid > 0);
    assert_int_equal(BS_RETRY(waitpid(pid, &status, 0)), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void every_descriptor_from_a_number_on_is_closed(void **state) {
    (void)state;
    for (int on_exec = 0; on_exec < 2; on_exec++) {
        assert_int_equal(status_on((struct host){.knows_the_call = true}, on_exec != 0), 0);
        assert_int_equal(status_on((struct host){.knows_the_call = false}, on_exec != 0), 0);
    }
}

static void a_failure_is_returned(void **state) {
    (void)state;
    assert_int_equal(status_on((struct host){.has_no_proc = true}, false), EMFILE);
    assert_int_equal(status_on((struct host){.cannot_list = true}, false), EIO);
    assert_int_equal(status_on((struct host){.cannot_mark = true}, true), EIO);
}

int main(void) {
    host.knows_the_call = true;
    const struct CMUnitTest tests[] = {
        leaves_nothing(every_descriptor_from_a_number_on_is_closed),
        leaves_nothing(a_failure_is_returned),
    };
    return cmocka_run_group_tests_name("base/descriptors", tests, NULL, NULL);
}
