#define _GNU_SOURCE
#include "support/terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/harness.h"

/* Runs in the child. It must not use assertions, because a failed assertion would jump into the
 * parent's test. */
static void be_at_terminal(terminal_body *body, int keyboard, int report) {
    char name[64];
    const char *wrong = "no terminal of its own";
    /* The first terminal that a session leader opens becomes its controlling terminal. */
    if (ptsname_r(keyboard, name, sizeof name) == 0 && setsid() != -1) {
        int terminal = open(name, O_RDWR);
        if (terminal >= 0 && dup2(terminal, 0) == 0 && (terminal == 0 || close(terminal) == 0))
            wrong = body(keyboard);
    }
    if (wrong != NULL)
        (void)!write(report, wrong, strlen(wrong));
    _exit(0);
}

void run_at_terminal(terminal_body *body) {
    char wrong[256] = {0};
    int report[2];
    int status = 0;
    int keyboard = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(keyboard >= 0);
    assert_int_equal(grantpt(keyboard), 0);
    assert_int_equal(unlockpt(keyboard), 0);
    assert_int_equal(pipe2(report, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        be_at_terminal(body, keyboard, report[1]);
    (void)close(report[1]);
    ssize_t n = read(report[0], wrong, sizeof wrong - 1);
    (void)close(report[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    (void)close(keyboard);
    assert_true(n >= 0);
    assert_string_equal(wrong, "");
    assert_int_equal(status, 0);
}

bool is_in_foreground(void) { return tcgetpgrp(0) == getpgrp(); }

bool type_at(int keyboard, const char *text) {
    return write(keyboard, text, strlen(text)) == (ssize_t)strlen(text);
}
