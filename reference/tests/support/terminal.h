/* Starts a process in the way in which a shell starts a program: it has a controlling terminal of
 * its own, this terminal is its standard input, and the process is in the foreground. */
#ifndef BS_TESTS_TERMINAL_H
#define BS_TESTS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Returns NULL, or a message about what is wrong. `keyboard` is the other end of the terminal: text
 * that is written to it is typed at the terminal. */
typedef const char *terminal_body(int keyboard);

/* Run `body` in such a process. If `body` returns a message, fail the test with it. */
void run_at_terminal(terminal_body *body);

/* True if the calling process's group is the foreground group. */
bool is_in_foreground(void);

bool type_at(int keyboard, const char *text);

#endif
