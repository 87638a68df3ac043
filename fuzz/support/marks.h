/* The marks of a request: what its texts contain that a glob, a rule or a path gives a meaning to.
 * Two differences of one class with different marks often have different causes. So a user can set
 * aside the differences of requests that have some marks, and still gets the others. */
#ifndef BS_FUZZ_MARKS_H
#define BS_FUZZ_MARKS_H

#include <stdbool.h>
#include <stddef.h>

/* Room for the names of all marks. */
enum { BS_MARKS_ROOM = 160 };

/* Return the marks of the strings in this JSON text, one bit each. */
unsigned bs_fuzz_marks_of(const char *json, size_t len);

/* Write the names, each after a plus sign, such as `+star+question`; return `room`. */
const char *bs_fuzz_marks_name(unsigned marks, char room[static BS_MARKS_ROOM]);

/* True if the request has each mark that `names` lists in the same form. An unknown name is a mark
 * that no request has. */
bool bs_fuzz_marks_include(unsigned marks, const char *names, size_t len);

#endif
