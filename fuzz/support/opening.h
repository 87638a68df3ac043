/* What a generated script opens, and what comes of it. */
#ifndef BS_FUZZ_OPENING_H
#define BS_FUZZ_OPENING_H

#include <sys/resource.h>

#include <boxspec/process.h>

/* What is opened: `cat`, alone, with a member that SIGTERM ends or does not, or by a launcher; and
 * what cannot be: a program or a mode that is not there, a field of a run, what a sandbox refuses
 * or its launcher fails at, where nobody could be told the end, where descriptors run out. */
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
    unsigned variant; /* its streams, or the field that is not for processes */
};

/* Opens it; `process` as bs_process_open leaves it. Returns a code of it. */
int bs_opening_try(struct bs_opening *opening, struct bs_process **process, struct bs_error *err);

/* The code that is right for it. */
int bs_opening_code(enum bs_opening_kind kind);

/* Leaves this many descriptors, about; returns the limit to go back to. */
struct rlimit bs_opening_squeeze(unsigned free);

#endif
