/* Commands for the wrapper. A command is built from pieces (a flag with its value). For each piece
 * the expected result is known from the contract's table (conformance/contracts/sbpl/page.md), so
 * this code parses nothing. Pieces whose meaning the contract leaves open are not generated. */
#ifndef BS_FUZZ_WRAP_CASE_H
#define BS_FUZZ_WRAP_CASE_H

#include <boxspec/sbpl.h>

#include "support/case.h"
#include "support/provider.h"

enum { BS_WRAP_MOST_WORDS = 24 };

struct bs_wrap_case {
    const char *argv[BS_WRAP_MOST_WORDS + 1];     /* ends in NULL */
    const char *expected[BS_WRAP_MOST_WORDS + 4]; /* without the wrapper itself */
    struct bs_sbpl_command command;
};

void bs_wrap_case_read(struct bs_wrap_case *input, struct bs_fuzz_provider from);
void bs_wrap_case_describe(struct bs_fuzz_case *c, const struct bs_wrap_case *input);

/* Fails by `wrap`. */
void bs_wrap_case_judge(const struct bs_wrap_case *input);

#endif
