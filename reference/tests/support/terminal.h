/* Starts a process that has a terminal of its own: as controlling terminal, as standard input, and
 * with the process in the foreground, as a shell starts a program. */
#ifndef BS_TESTS_TERMINAL_H
#define BS_TESTS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Returns NULL, or a message about what is wrong. `keyboard` is the other end of the terminal: what
 * the test writes to it is typed. */
typedef const char *terminal_body(int keyboard);

/* Run `body` in such a process. Fails the test with the message that `body` returns. */
void run_at_terminal(terminal_body *body);

/* True if the calling process's group is the foreground group. */
bool is_in_foreground(void);

bool type_at(int keyboard, const char *text);

#endif
