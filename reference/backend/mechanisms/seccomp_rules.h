/* What a seccomp program is to answer, call by call: make_seccomp.c writes it as instructions when
 * the project is built, and its test has libseccomp write it once more and compares. */
#ifndef BS_BACKEND_MECHANISMS_SECCOMP_RULES_H
#define BS_BACKEND_MECHANISMS_SECCOMP_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/mechanisms/seccomp.h"

/* mseal. Whatever is above the newest that was looked at when this was written answers ENOSYS, as
 * on an older kernel; so does every call of another architecture. */
enum { BS_FILTER_NEWEST = 462 };

/* The low half of an argument, masked, is one of these. The kernel takes these arguments for an
 * int, or looks at none of the bits above. */
struct bs_filter_test {
    unsigned arg;
    uint32_t mask;
    unsigned n_values;
    uint32_t values[8];
};

/* True when all of its tests are. */
struct bs_filter_case {
    unsigned n_tests;
    struct bs_filter_test tests[3];
};

struct bs_filter_rule {
    bool decided;      /* by more than the rule for the rest, which allows it */
    uint32_t answer;   /* SECCOMP_RET_...: where no case is true */
    uint32_t matching; /* where one is */
    unsigned n_cases;
    struct bs_filter_case cases[3];
};

struct bs_filter_rules {
    struct bs_filter_rule of[BS_FILTER_NEWEST + 1];
};

/* False when a call has two rules: a mistake in the lists. */
bool bs_filter_rules_for(const struct bs_filter_wish *wish, struct bs_filter_rules *rules);

#endif
