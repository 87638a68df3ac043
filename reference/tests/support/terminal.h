/* A process with a terminal of its own: controlling terminal, standard input and in the foreground,
 * as a shell starts a program. */
#ifndef BS_TESTS_TERMINAL_H
#define BS_TESTS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Return NULL, or what is wrong. `keyboard` is the other end: what is written there is typed. */
typedef const char *terminal_body(int keyboard);

/* Run `body` in such a process, and fail the test with what it returns. */
void run_at_terminal(terminal_body *body);

/* True if the calling process's group is the foreground group. */
bool is_in_foreground(void);

bool type_at(int keyboard, const char *text);

#endif
