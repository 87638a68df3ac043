/* The marks of a request: which characters of its texts have a meaning in a glob, a rule or a path.
 * If two differences of one class have different marks, they often have different causes. So a user
 * can ignore the differences of requests with certain marks, and still gets the others. */
#ifndef BS_FUZZ_MARKS_H
#define BS_FUZZ_MARKS_H

#include <stdbool.h>
#include <stddef.h>

/* Space for the names of all marks. */
enum { BS_MARKS_ROOM = 160 };

/* Return the marks of all strings in this JSON text, one bit for each mark. */
unsigned bs_fuzz_marks_of(const char *json, size_t len);

/* Write the names of the marks, each after a plus sign, such as `+star+question`. Returns
 * `room`. */
const char *bs_fuzz_marks_name(unsigned marks, char room[static BS_MARKS_ROOM]);

/* True if the request has each mark in `names`, which has the form that bs_fuzz_marks_name writes.
 * No request has a mark with an unknown name. */
bool bs_fuzz_marks_include(unsigned marks, const char *names, size_t len);

#endif
