/* The action of a seccomp program for each system call. make_seccomp.c compiles it when the project
 * is built. The test compiles it with libseccomp as well and compares. */
#ifndef BS_BACKEND_MECHANISMS_SECCOMP_RULES_H
#define BS_BACKEND_MECHANISMS_SECCOMP_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/mechanisms/seccomp.h"

/* mseal. Newer system calls, which have not been reviewed, fail with ENOSYS as on an older kernel.
 * So do the calls of another architecture. */
enum { BS_SECCOMP_NEWEST = 462 };

/* True if the lower half of an argument, masked, equals one of the values. The kernel treats these
 * arguments as an int or ignores the upper bits. */
struct bs_seccomp_test {
    unsigned arg;
    uint32_t mask;
    unsigned n_values;
    uint32_t values[8];
};

/* True if all of its tests are. */
struct bs_seccomp_case {
    unsigned n_tests;
    struct bs_seccomp_test tests[3];
};

struct bs_seccomp_rule {
    bool decided;      /* false: the default rule, which allows */
    uint32_t answer;   /* SECCOMP_RET_..., if no case is true */
    uint32_t matching; /* if a case is true */
    unsigned n_cases;
    struct bs_seccomp_case cases[3];
};

struct bs_seccomp_rules {
    struct bs_seccomp_rule of[BS_SECCOMP_NEWEST + 1];
};

/* False if a call has two rules, which is a bug in the lists. */
bool bs_seccomp_rules_for(const struct bs_seccomp_variant *variant, struct bs_seccomp_rules *rules);

#endif
