/* Tests runs whose child has the caller's terminal as standard input. */
#define _GNU_SOURCE
#include <boxspec/exec.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/shell.h"
#include "support/terminal.h"

static const char read_a_line[] = "read x; echo got $x";
static const uint64_t patience_ms = 4000;

/* A request for /bin/sh -c SCRIPT that inherits the terminal. */
#define AT_TERMINAL(script) at_terminal((const char *[]){"-c", script})

static struct bs_exec_request at_terminal(const char *const *args) {
    struct bs_exec_request request = shell_request(args);
    request.stdin_mode = BS_STDIN_INHERIT;
    request.timeout_ms = &patience_ms;
    return request;
}

static bool is_text(const struct bs_bytes *bytes, const char *text) {
    return bytes->len == strlen(text) && memcmp(bytes->data, text, bytes->len) == 0;
}

/* Run the request. Return NULL if its output is as expected and the caller is in the foreground
 * afterwards, otherwise a message. */
static const char *gives(const struct bs_exec_request *request, const char *output) {
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    if (bs_exec_run(request, &result, NULL) != BS_OK)
        return "no result";
    const char *wrong = NULL;
    if (!result.success || !is_text(&result.out, output))
        wrong = "the child did not read the line";
    else if (!is_in_foreground())
        wrong = "the caller is not in the foreground after the run";
    bs_exec_result_clear(&result);
    return wrong;
}

static const char *read_one_line(int keyboard) {
    struct bs_exec_request request = AT_TERMINAL(read_a_line);
    if (!type_at(keyboard, "hello\n"))
        return "cannot type";
    return gives(&request, "got hello\n");
}

static void a_child_reads_from_the_terminal(void **state) {
    (void)state;
    run_at_terminal(read_one_line);
}

static const char *let_the_deadline_pass(int keyboard) {
    (void)keyboard;
    static const uint64_t soon_ms = 100;
    struct bs_exec_request request = AT_TERMINAL("exec sleep 60");
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    request.timeout_ms = &soon_ms;
    if (bs_exec_run(&request, &result, NULL) != BS_OK || result.termination != BS_ENDED_TIMEOUT)
        return "the deadline did not end the run";
    bs_exec_result_clear(&result);
    return is_in_foreground() ? NULL : "the caller is not in the foreground after the deadline";
}

static void the_caller_has_the_terminal_after_a_deadline(void **state) {
    (void)state;
    run_at_terminal(let_the_deadline_pass);
}

/* Start a program that is found and executable, but has a wrong format. So the start fails in the
 * child, after the child has taken the terminal. */
static const char *fail_to_spawn(int keyboard) {
    (void)keyboard;
    char path[] = "/tmp/boxspec-no-program-XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);
    struct bs_exec_request request = {.program = path};
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    bool made = fd >= 0 && write(fd, "text\n", 5) == 5 && fchmod(fd, 0700) == 0;
    (void)close(fd);
    int code = made ? bs_exec_run(&request, &result, &err) : BS_OK;
    (void)unlink(path);
    if (code != BS_E_EXECUTION || err.os_error != ENOEXEC)
        return "the spawn did not fail in the child";
    return is_in_foreground() ? NULL : "the caller is not in the foreground after a failed spawn";
}

static void the_caller_has_the_terminal_after_a_failed_spawn(void **state) {
    (void)state;
    run_at_terminal(fail_to_spawn);
}

/* Press Ctrl-Z first and type the text afterwards, because Ctrl-Z discards the line that was typed
 * before. */
static void press_ctrl_z(void *ctx, enum bs_stream stream, const char *data, size_t len) {
    const int *keyboard = ctx;
    (void)data;
    if (stream == BS_STDERR && len > 0)
        (void)(type_at(*keyboard, "\x1a") && type_at(*keyboard, "hello\n"));
}

static const char *press_ctrl_z_while_it_reads(int keyboard) {
    struct bs_exec_request request = AT_TERMINAL("echo ready >&2; read x; test $x = hello");
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    request.on_output = press_ctrl_z;
    request.on_output_ctx = &keyboard;
    if (bs_exec_run(&request, &result, NULL) != BS_OK || !result.success)
        return "the child stayed stopped after Ctrl-Z";
    bs_exec_result_clear(&result);
    return NULL;
}

static void ctrl_z_does_not_stop_the_child(void **state) {
    (void)state;
    run_at_terminal(press_ctrl_z_while_it_reads);
}

static const char *press_ctrl_c(int keyboard) {
    struct bs_exec_request request = AT_TERMINAL("printf '\\003' >&9; exec cat");
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    if (dup2(keyboard, 9) != 9 || bs_exec_run(&request, &result, NULL) != BS_OK)
        return "no result";
    bool is_childs = result.termination == BS_ENDED_SIGNAL && result.signal == SIGINT;
    bs_exec_result_clear(&result);
    return is_childs ? NULL : "Ctrl-C did not end the child by SIGINT";
}

static void ctrl_c_is_a_signal_to_the_child(void **state) {
    (void)state;
    run_at_terminal(press_ctrl_c);
}

/* Read while another group is in the foreground, as in a background job of a shell. */
static const char *read_in_the_background(int keyboard) {
    pid_t other = fork();
    if (other == 0) {
        (void)pause();
        _exit(0);
    }
    if (other < 0 || setpgid(other, other) != 0 || tcsetpgrp(0, other) != 0)
        return "no other group in the foreground";
    struct bs_exec_request request = AT_TERMINAL(read_a_line);
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    const char *wrong = NULL;
    if (!type_at(keyboard, "hello\n") || bs_exec_run(&request, &result, NULL) != BS_OK)
        return "no result";
    if (result.termination != BS_ENDED_SIGNAL || result.signal != SIGTTIN || result.success ||
        result.has_exit_code || !is_text(&result.err, "process stopped by signal SIGTTIN"))
        wrong = "the result does not name the stop";
    else if (tcgetpgrp(0) != other)
        wrong = "the terminal was taken from another group";
    bs_exec_result_clear(&result);
    (void)kill(other, SIGKILL);
    (void)waitpid(other, NULL, 0);
    return wrong;
}

static void a_stop_in_the_background_ends_the_run_and_is_named(void **state) {
    (void)state;
    run_at_terminal(read_in_the_background);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_reads_from_the_terminal),
        cmocka_unit_test(the_caller_has_the_terminal_after_a_deadline),
        cmocka_unit_test(the_caller_has_the_terminal_after_a_failed_spawn),
        cmocka_unit_test(ctrl_z_does_not_stop_the_child),
        cmocka_unit_test(ctrl_c_is_a_signal_to_the_child),
        cmocka_unit_test(a_stop_in_the_background_ends_the_run_and_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
