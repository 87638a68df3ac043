/* Tests a process handle whose program has the caller's terminal as standard input. */
#define _GNU_SOURCE
#include <boxspec/process.h>

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/shell.h"
#include "support/terminal.h"

static const uint64_t patience_ms = 4000;
static const struct bs_stdio at_terminal = {BS_STDIO_INHERIT, BS_STDIO_NULL, BS_STDIO_NULL, false};

/* Start /bin/sh -c SCRIPT with the terminal as stdin. Returns NULL if it cannot be started. */
static struct bs_process *start_at_terminal(const char *script) {
    const char *args[] = {"-c", script};
    struct bs_exec_request request = {.program = "/bin/sh", .args = args, .n_args = 2};
    struct bs_process *process = NULL;
    (void)bs_process_open(&request, &at_terminal, NULL, &process, NULL);
    return process;
}

static const char *read_one_line(int keyboard) {
    struct bs_process *process = start_at_terminal("read x; test $x = hello");
    struct bs_process_end end;
    if (process == NULL || !type_at(keyboard, "hello\n") ||
        bs_process_wait(process, &patience_ms, &end, NULL) != BS_OK)
        return "no end";
    bs_process_drop(process);
    if (end.state != BS_PROCESS_EXITED || end.number != 0)
        return "the program did not read the line";
    return is_in_foreground() ? NULL : "the caller is not in the foreground after the end";
}

static void a_program_reads_from_the_terminal(void **state) {
    (void)state;
    run_at_terminal(read_one_line);
}

static const char *drop_it(int keyboard) {
    (void)keyboard;
    struct bs_process *process = start_at_terminal("exec sleep 60");
    if (process == NULL)
        return "no process";
    bs_process_drop(process);
    return is_in_foreground() ? NULL : "the caller is not in the foreground after the drop";
}

static void the_caller_has_the_terminal_after_a_drop(void **state) {
    (void)state;
    run_at_terminal(drop_it);
}

static const char *read_beside_another(int keyboard) {
    struct bs_process *first = start_at_terminal("read x; test $x = hello");
    struct bs_process *second = start_at_terminal("read x");
    struct bs_process_end first_end;
    struct bs_process_end second_end;
    if (first == NULL || second == NULL ||
        bs_process_wait(second, &patience_ms, &second_end, NULL) != BS_OK ||
        !type_at(keyboard, "hello\n") ||
        bs_process_wait(first, &patience_ms, &first_end, NULL) != BS_OK)
        return "no end";
    bs_process_drop(second);
    bs_process_drop(first);
    if (second_end.state != BS_PROCESS_SIGNALED || second_end.number != SIGTTIN)
        return "the end of the program without the terminal does not name the stop";
    if (first_end.state != BS_PROCESS_EXITED || first_end.number != 0)
        return "the program with the terminal did not read the line";
    return is_in_foreground() ? NULL : "the caller is not in the foreground after the end";
}

static void of_two_programs_one_has_the_terminal_and_the_other_is_ended(void **state) {
    (void)state;
    run_at_terminal(read_beside_another);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_reads_from_the_terminal),
        cmocka_unit_test(the_caller_has_the_terminal_after_a_drop),
        cmocka_unit_test(of_two_programs_one_has_the_terminal_and_the_other_is_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
