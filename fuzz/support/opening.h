/* One way in which a generated script opens a process, and the expected result. */
#ifndef BS_FUZZ_OPENING_H
#define BS_FUZZ_OPENING_H

#include <sys/resource.h>

#include <boxspec/process.h>

/* How the process is opened. Four kinds succeed: `cat` alone, `cat` with a group member that
 * SIGTERM ends or does not end, and `cat` started by a launcher. All others must fail: a program or
 * mode that does not exist, a field that only runs have, a sandbox that refuses the request, a
 * launcher that fails, no way to learn about the child's end, no free descriptors. */
enum bs_opening_kind {
    BS_OPENING_ALONE,
    BS_OPENING_MEMBER,
    BS_OPENING_STUBBORN,
    BS_OPENING_LAUNCHED,
    BS_OPENING_NOT_THERE,
    BS_OPENING_NO_MODE,
    BS_OPENING_FOREIGN,
    BS_OPENING_REFUSED,
    BS_OPENING_FAILED,
    BS_OPENING_COLLECTED,
    BS_OPENING_SQUEEZED,
    BS_OPENINGS
};

struct bs_opening {
    enum bs_opening_kind kind;
    unsigned variant; /* selects its streams, or the field that processes refuse */
};

/* Open the process, and return the code of bs_process_open. `process` is set as by
 * bs_process_open. */
int bs_opening_try(struct bs_opening *opening, struct bs_process **process, struct bs_error *err);

/* Return the code that this kind of opening must return. */
int bs_opening_code(enum bs_opening_kind kind);

/* Lower the descriptor limit so that about `free` descriptors are left. Return the previous
 * limit. */
struct rlimit bs_opening_squeeze(unsigned free);

#endif
