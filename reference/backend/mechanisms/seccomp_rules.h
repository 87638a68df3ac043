/* The decision about each system call. make_seccomp.c compiles it into a seccomp program when the
 * project is built. A test compiles it with libseccomp as well and compares the two. */
#ifndef BS_BACKEND_MECHANISMS_SECCOMP_RULES_H
#define BS_BACKEND_MECHANISMS_SECCOMP_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/mechanisms/seccomp.h"

/* The number of mseal, the newest call that was reviewed. Newer calls fail with ENOSYS as on an
 * older kernel, and so do calls of another architecture. */
enum { BS_SECCOMP_NEWEST = 462 };

/* A condition: the lower half of an argument, after masking, equals one of the values. The upper
 * half is ignored, because the kernel treats these arguments as an int or ignores their upper
 * bits. */
struct bs_seccomp_test {
    unsigned arg;
    uint32_t mask;
    unsigned n_values;
    uint32_t values[8];
};

/* A combination of tests; it is true if all of them are. */
struct bs_seccomp_case {
    unsigned n_tests;
    struct bs_seccomp_test tests[3];
};

struct bs_seccomp_rule {
    bool decided;      /* false: no rule was written for this call, so it is allowed */
    uint32_t answer;   /* the action if no case is true: SECCOMP_RET_... */
    uint32_t matching; /* the action if a case is true */
    unsigned n_cases;
    struct bs_seccomp_case cases[3];
};

struct bs_seccomp_rules {
    struct bs_seccomp_rule of[BS_SECCOMP_NEWEST + 1];
};

/* Fill the rules for a variant. Returns false if a call has two rules, which is a bug in the
 * lists. */
bool bs_seccomp_rules_for(const struct bs_seccomp_variant *variant, struct bs_seccomp_rules *rules);

#endif
