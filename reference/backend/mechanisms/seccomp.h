/* The seccomp programs: which there are. make_seccomp.c writes them when the project is built. */
#ifndef BS_BACKEND_MECHANISMS_SECCOMP_H
#define BS_BACKEND_MECHANISMS_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>

struct sock_filter;

/* What the namespaces do not hold, and the filter must. */
struct bs_filter_wish {
    bool namespaces; /* the backend has its own, the network among them where none is allowed */
    bool no_network;
    bool strict_metadata;
};

enum { BS_N_FILTERS = 8 };

static inline unsigned bs_filter_number(const struct bs_filter_wish *wish) {
    return (wish->namespaces ? 1U : 0U) | (wish->no_network ? 2U : 0U) |
           (wish->strict_metadata ? 4U : 0U);
}

static inline struct bs_filter_wish bs_filter_wish_of(unsigned number) {
    return (struct bs_filter_wish){(number & 1U) != 0, (number & 2U) != 0, (number & 4U) != 0};
}

/* The program for a wish, and how many bytes it has. It is there for good and needs no memory. */
const struct sock_filter *bs_filter_of(const struct bs_filter_wish *wish, size_t *n_bytes);

#endif
