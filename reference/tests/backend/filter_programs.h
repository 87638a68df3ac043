/* The seccomp programs that the test compares: the library's, and libseccomp's from the same rules.
 * run_filter() runs a program on the data of a call. */
#ifndef BS_TESTS_BACKEND_FILTER_PROGRAMS_H
#define BS_TESTS_BACKEND_FILTER_PROGRAMS_H

#include "backend/mechanisms/seccomp.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/mechanisms/seccomp_rules.h"
#include "support/harness.h"

enum { MOST = 4096 };

static const uint32_t no_call = SECCOMP_RET_ERRNO | ENOSYS;
static const uint32_t refused = SECCOMP_RET_ERRNO | EPERM;
static const uint32_t allowed = SECCOMP_RET_ALLOW;

struct code {
    const struct sock_filter *of;
    size_t n;
};

struct answer {
    uint32_t verdict;
    bool read_argument; /* the program has read an argument of the call */
    unsigned steps;
};

static inline struct answer run_filter(struct code code, const struct seccomp_data *data) {
    struct answer answer = {0, false, 0};
    uint32_t a = 0;
    for (size_t at = 0; at < code.n; at++) {
        const struct sock_filter *one = &code.of[at];
        answer.steps++;
        switch (one->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            if (one->k > sizeof *data - sizeof a)
                fail_msg("the program loads at offset %u, after the end of the data", one->k);
            memcpy(&a, (const char *)data + one->k, sizeof a);
            answer.read_argument =
                answer.read_argument || one->k >= offsetof(struct seccomp_data, args);
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            a &= one->k;
            break;
        case BPF_JMP | BPF_JA:
            at += one->k;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            at += a == one->k ? one->jt : one->jf;
            break;
        case BPF_JMP | BPF_JGT | BPF_K:
            at += a > one->k ? one->jt : one->jf;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            at += a >= one->k ? one->jt : one->jf;
            break;
        case BPF_RET | BPF_K:
            answer.verdict = one->k;
            return answer;
        default:
            fail_msg("the program has an unknown instruction: %#x", one->code);
        }
    }
    fail_msg("the program ends without an answer");
    return answer;
}

/* Add one libseccomp rule for each combination of values. */
static inline void add_case(scmp_filter_ctx filter, int number, const struct bs_seccomp_rule *rule,
                            const struct bs_seccomp_case *one) {
    unsigned choices = 1;
    for (unsigned i = 0; i < one->n_tests; i++)
        choices *= one->tests[i].n_values;
    for (unsigned choice = 0; choice < choices; choice++) {
        struct scmp_arg_cmp args[LENGTH(one->tests)];
        unsigned left = choice;
        for (unsigned i = 0; i < one->n_tests; i++) {
            const struct bs_seccomp_test *test = &one->tests[i];
            args[i] = SCMP_CMP64(test->arg, SCMP_CMP_MASKED_EQ, (uint64_t)test->mask,
                                 (uint64_t)test->values[left % test->n_values]);
            left /= test->n_values;
        }
        assert_int_equal(seccomp_rule_add_array(filter, rule->matching, number, one->n_tests, args),
                         0);
    }
}

/* Make libseccomp's program. `ioctl` is left out, because libseccomp cannot refuse it for one value
 * of an argument and allow it for all others. */
static inline struct code by_libseccomp(const struct bs_seccomp_rules *rules) {
    static struct sock_filter made[MOST];
    scmp_filter_ctx filter = seccomp_init(no_call);
    assert_non_null(filter);
    assert_int_equal(seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, no_call), 0);
    /* the value 2 asks for a binary tree */
    assert_int_equal(seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2), 0);
    for (int number = 0; number <= BS_SECCOMP_NEWEST; number++) {
        const struct bs_seccomp_rule *rule = &rules->of[number];
        if (number == SCMP_SYS(ioctl))
            continue;
        if (rule->n_cases == 0 && rule->answer != no_call)
            assert_int_equal(seccomp_rule_add(filter, rule->answer, number, 0), 0);
        if (rule->n_cases > 0)
            assert_int_equal(rule->answer, no_call);
        for (unsigned i = 0; i < rule->n_cases; i++)
            add_case(filter, number, rule, &rule->cases[i]);
    }
    int fd = memfd_create("filter", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(seccomp_export_bpf(filter, fd), 0);
    ssize_t n = pread(fd, made, sizeof made, 0);
    assert_in_range(n, 1, sizeof made - 1);
    (void)close(fd);
    seccomp_release(filter);
    return (struct code){made, (size_t)n / sizeof *made};
}

static inline struct code by_us(const struct bs_seccomp_variant *wish) {
    size_t n_bytes = 0;
    const struct sock_filter *program = bs_seccomp_program(wish, &n_bytes);
    return (struct code){program, n_bytes / sizeof *program};
}

#endif
