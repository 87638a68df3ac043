/* Definitions of Landlock from the kernel's documentation
 * (Documentation/userspace-api/landlock.rst). They are repeated here because the headers of a
 * distribution may be older than the running kernel. */
#ifndef BS_BACKEND_MECHANISMS_LANDLOCK_ABI_H
#define BS_BACKEND_MECHANISMS_LANDLOCK_ABI_H

#include <stdint.h>

/* this number and the next two are the same on every architecture */
#define BS_LL_CREATE_RULESET 444
#define BS_LL_ADD_RULE 445
#define BS_LL_RESTRICT_SELF 446

#define BS_LL_VERSION 1U /* flag of create_ruleset that asks for the version of the ABI */

#define BS_LL_EXECUTE (UINT64_C(1) << 0)
#define BS_LL_WRITE_FILE (UINT64_C(1) << 1)
#define BS_LL_READ_FILE (UINT64_C(1) << 2)
#define BS_LL_READ_DIR (UINT64_C(1) << 3)
#define BS_LL_REMOVE_DIR (UINT64_C(1) << 4)
#define BS_LL_REMOVE_FILE (UINT64_C(1) << 5)
#define BS_LL_MAKE_CHAR (UINT64_C(1) << 6)
#define BS_LL_MAKE_DIR (UINT64_C(1) << 7)
#define BS_LL_MAKE_REG (UINT64_C(1) << 8)
#define BS_LL_MAKE_SOCK (UINT64_C(1) << 9)
#define BS_LL_MAKE_FIFO (UINT64_C(1) << 10)
#define BS_LL_MAKE_BLOCK (UINT64_C(1) << 11)
#define BS_LL_MAKE_SYM (UINT64_C(1) << 12)
#define BS_LL_REFER (UINT64_C(1) << 13)     /* since ABI 2 */
#define BS_LL_TRUNCATE (UINT64_C(1) << 14)  /* since ABI 3 */
#define BS_LL_IOCTL_DEV (UINT64_C(1) << 15) /* since ABI 5 */

#define BS_LL_BIND_TCP (UINT64_C(1) << 0) /* since ABI 4 */
#define BS_LL_CONNECT_TCP (UINT64_C(1) << 1)

#define BS_LL_SCOPE_ABSTRACT (UINT64_C(1) << 0) /* since ABI 6 */
#define BS_LL_SCOPE_SIGNAL (UINT64_C(1) << 1)

enum { BS_LL_ABI_REFER = 2, BS_LL_ABI_TRUNCATE, BS_LL_ABI_NET, BS_LL_ABI_IOCTL, BS_LL_ABI_SCOPE };

#define BS_LL_RULE_PATH 1
#define BS_LL_RULE_PORT 2

struct bs_ll_ruleset {
    uint64_t fs;
    uint64_t net;
    uint64_t scope;
};

struct bs_ll_path {
    uint64_t rights;
    int32_t parent;
} __attribute__((packed));

struct bs_ll_port {
    uint64_t rights;
    uint64_t port;
};

#endif
