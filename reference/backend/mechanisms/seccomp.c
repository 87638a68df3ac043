#include "backend/mechanisms/seccomp.h"

#include <linux/filter.h>

#include "backend/mechanisms/filters.inc"

#define PROGRAM(number)                                                                            \
    { filter_##number, sizeof filter_##number }

static const struct {
    const struct sock_filter *program;
    size_t n_bytes;
} filters[BS_SECCOMP_VARIANTS] = {PROGRAM(0), PROGRAM(1), PROGRAM(2), PROGRAM(3),
                                  PROGRAM(4), PROGRAM(5), PROGRAM(6), PROGRAM(7)};

const struct sock_filter *bs_seccomp_program(const struct bs_seccomp_variant *variant,
                                             size_t *n_bytes) {
    unsigned number = bs_seccomp_variant_index(variant);
    *n_bytes = filters[number].n_bytes;
    return filters[number].program;
}
