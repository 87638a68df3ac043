#include "backend/mechanisms/seccomp.h"

#include <linux/filter.h>

#include "backend/mechanisms/filters.inc"

#define PROGRAM(number)                                                                            \
    { filter_##number, sizeof filter_##number }

static const struct {
    const struct sock_filter *program;
    size_t n_bytes;
} filters[BS_N_FILTERS] = {PROGRAM(0), PROGRAM(1), PROGRAM(2), PROGRAM(3),
                           PROGRAM(4), PROGRAM(5), PROGRAM(6), PROGRAM(7)};

const struct sock_filter *bs_filter_of(const struct bs_filter_wish *wish, size_t *n_bytes) {
    unsigned number = bs_filter_number(wish);
    *n_bytes = filters[number].n_bytes;
    return filters[number].program;
}
