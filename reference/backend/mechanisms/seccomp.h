/* The seccomp programs, which make_seccomp.c generates when the project is built. */
#ifndef BS_BACKEND_MECHANISMS_SECCOMP_H
#define BS_BACKEND_MECHANISMS_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>

struct sock_filter;

struct bs_seccomp_variant {
    bool namespaces; /* the backend has namespaces; with `no_network` also a network namespace */
    bool no_network;
    bool strict_metadata;
};

enum { BS_SECCOMP_VARIANTS = 8 };

static inline unsigned bs_seccomp_variant_index(const struct bs_seccomp_variant *variant) {
    return (variant->namespaces ? 1U : 0U) | (variant->no_network ? 2U : 0U) |
           (variant->strict_metadata ? 4U : 0U);
}

static inline struct bs_seccomp_variant bs_seccomp_variant_at(unsigned number) {
    return (struct bs_seccomp_variant){(number & 1U) != 0, (number & 2U) != 0, (number & 4U) != 0};
}

/* Return the program for a variant, which is static, and set *n_bytes. */
const struct sock_filter *bs_seccomp_program(const struct bs_seccomp_variant *variant,
                                             size_t *n_bytes);

#endif
