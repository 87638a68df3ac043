/* A plain wrapper for Landlock, like the kernel's sample (samples/landlock/sandboxer.c) and the
 * commands derived from it: it confines itself and then executes the program. It has no filter and
 * no grace period, and does not handle leftover processes.
 *
 * boxspec-bench-sandboxer WORKSPACE PROGRAM */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/mechanisms/landlock_abi.h"

/* The rights to restrict, the same as those that the backend restricts. Reading and executing are
 * allowed everywhere. */
static const uint64_t writes = BS_LL_WRITE_FILE | BS_LL_REMOVE_DIR | BS_LL_REMOVE_FILE |
                               BS_LL_MAKE_CHAR | BS_LL_MAKE_DIR | BS_LL_MAKE_REG | BS_LL_MAKE_SOCK |
                               BS_LL_MAKE_FIFO | BS_LL_MAKE_BLOCK | BS_LL_MAKE_SYM;

static bool grant(int ruleset, const char *path, uint64_t rights) {
    struct bs_ll_path rule = {rights, open(path, O_PATH | O_CLOEXEC)};
    bool good =
        rule.parent >= 0 && syscall(BS_LL_ADD_RULE, ruleset, BS_LL_RULE_PATH, &rule, 0) == 0;
    (void)close(rule.parent);
    return good;
}

static bool confine(const char *workspace) {
    struct bs_ll_ruleset rules = {.fs = writes};
    if (syscall(BS_LL_CREATE_RULESET, NULL, 0, BS_LL_VERSION) >= BS_LL_ABI_REFER)
        rules.fs |= BS_LL_REFER;
    int ruleset = (int)syscall(BS_LL_CREATE_RULESET, &rules, sizeof rules.fs, 0);
    bool good = ruleset >= 0 && grant(ruleset, workspace, rules.fs) &&
                grant(ruleset, "/tmp", rules.fs) && grant(ruleset, "/dev/null", BS_LL_WRITE_FILE) &&
                prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                syscall(BS_LL_RESTRICT_SELF, ruleset, 0) == 0;
    (void)close(ruleset);
    return good;
}

int main(int argc, char **argv) {
    if (argc != 3 || !confine(argv[1])) {
        (void)fputs("usage: boxspec-bench-sandboxer WORKSPACE PROGRAM; wants Landlock\n", stderr);
        return 2;
    }
    (void)execv(argv[2], argv + 2);
    return 127;
}
