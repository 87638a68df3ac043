/* Compares the library's seccomp programs with those that libseccomp makes from the same rules. A
 * program is a chain of comparisons with constants. So both programs are tried with each constant
 * of either program, with the numbers next to it, and with the constant after one bit is
 * inverted. */
#define _GNU_SOURCE
#include "backend/mechanisms/seccomp.h"

#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "backend/filter_programs.h"
#include "backend/mechanisms/seccomp_rules.h"
#include "support/harness.h"

enum { BITS = 64 };

/* A set of constants and the numbers next to them, each number only once. */
struct constants {
    uint32_t of[3 * MOST];
    size_t n;
};

struct pair {
    struct code us;
    struct code them;
    /* Values for arguments. They include the constants of the rules, because libseccomp's program
     * compares arguments with these. */
    struct constants ours;
    struct constants all;
};

static void add_constants(struct constants *constants, struct code code) {
    for (size_t i = 0; i < code.n; i++) {
        for (uint32_t offset = 0; offset < 3; offset++) {
            assert_true(constants->n < LENGTH(constants->of));
            constants->of[constants->n++] = code.of[i].k + offset - 1;
        }
    }
}

static int by_value(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void make_unique(struct constants *constants) {
    size_t kept = 0;
    qsort(constants->of, constants->n, sizeof *constants->of, by_value);
    for (size_t i = 0; i < constants->n; i++) {
        if (i == 0 || constants->of[i] != constants->of[kept - 1])
            constants->of[kept++] = constants->of[i];
    }
    constants->n = kept;
}

static void collect(struct pair *pair, const struct bs_seccomp_variant *wish,
                    const struct bs_seccomp_rules *rules) {
    pair->us = by_us(wish);
    pair->them = by_libseccomp(rules);
    pair->ours.n = pair->all.n = 0;
    add_constants(&pair->ours, pair->us);
    add_constants(&pair->all, pair->us);
    add_constants(&pair->all, pair->them);
    make_unique(&pair->ours);
    make_unique(&pair->all);
}

/* True if both programs give the same answer. *read_argument becomes true if one of them has read
 * an argument. */
static bool agree(const struct pair *pair, const struct seccomp_data *data) {
    struct answer us = run_filter(pair->us, data);
    struct answer them = run_filter(pair->them, data);
    if (us.verdict != them.verdict)
        fail_msg("call %#x of %#x with %#llx %#llx %#llx %#llx: %#x, and libseccomp says %#x",
                 (unsigned)data->nr, data->arch, data->args[0], data->args[1], data->args[2],
                 data->args[3], us.verdict, them.verdict);
    return us.read_argument || them.read_argument;
}

/* Set each argument in turn to each constant, while the other arguments keep their values. */
static void vary_each(const struct pair *pair, const struct seccomp_data *data) {
    for (size_t arg = 0; arg < LENGTH(data->args); arg++) {
        struct seccomp_data other = *data;
        for (size_t i = 0; i < pair->ours.n; i++) {
            other.args[arg] = pair->ours.of[i];
            (void)agree(pair, &other);
        }
    }
}

static void vary_cases(const struct pair *pair, const struct bs_seccomp_rule *rule,
                       const struct seccomp_data *data) {
    vary_each(pair, data);
    for (unsigned i = 0; i < rule->n_cases; i++) {
        struct seccomp_data matching = *data;
        for (unsigned j = 0; j < rule->cases[i].n_tests; j++) {
            const struct bs_seccomp_test *test = &rule->cases[i].tests[j];
            matching.args[test->arg] = test->values[0];
        }
        vary_each(pair, &matching);
    }
}

static void turn_bits(const struct pair *pair, const struct seccomp_data *data) {
    for (size_t arg = 0; arg < LENGTH(data->args); arg++) {
        struct seccomp_data other = *data;
        for (unsigned bit = 0; bit < BITS; bit++) {
            other.args[arg] = data->args[arg] ^ (UINT64_C(1) << bit);
            (void)agree(pair, &other);
        }
    }
}

/* Try every combination of the values in a rule, including those of its other cases. */
static void vary_all(const struct pair *pair, const struct bs_seccomp_rule *rule,
                     struct seccomp_data *data, unsigned arg) {
    if (arg == LENGTH(data->args)) {
        turn_bits(pair, data);
        return;
    }
    data->args[arg] = 0;
    vary_all(pair, rule, data, arg + 1);
    for (unsigned i = 0; i < rule->n_cases; i++) {
        for (unsigned j = 0; j < rule->cases[i].n_tests; j++) {
            const struct bs_seccomp_test *test = &rule->cases[i].tests[j];
            for (unsigned k = 0; test->arg == arg && k < test->n_values; k++) {
                data->args[arg] = test->values[k];
                vary_all(pair, rule, data, arg + 1);
            }
        }
    }
}

static void check_number(const struct pair *pair, const struct bs_seccomp_rules *rules,
                         uint32_t number) {
    struct seccomp_data data = {.nr = (int)number, .arch = seccomp_arch_native()};
    if (number == (uint32_t)SCMP_SYS(ioctl))
        return;
    if (!agree(pair, &data))
        return; /* the answer is the same for all arguments */
    assert_in_range(number, 0, BS_SECCOMP_NEWEST);
    assert_true(rules->of[number].n_cases > 0);
    vary_cases(pair, &rules->of[number], &data);
    vary_all(pair, &rules->of[number], &data, 0);
}

static void check_foreign(const struct pair *pair, uint32_t arch, uint32_t number) {
    struct seccomp_data data = {.nr = (int)number, .arch = arch};
    if (arch == seccomp_arch_native())
        return;
    assert_false(agree(pair, &data));
    assert_int_equal(run_filter(pair->us, &data).verdict, no_call);
}

static void check_number_everywhere(const struct pair *pair, const struct bs_seccomp_rules *rules,
                                    uint32_t number) {
    static const uint32_t archs[] = {0,
                                     UINT32_MAX,
                                     AUDIT_ARCH_I386,
                                     AUDIT_ARCH_X86_64,
                                     AUDIT_ARCH_ARM,
                                     AUDIT_ARCH_AARCH64,
                                     AUDIT_ARCH_RISCV64,
                                     AUDIT_ARCH_PPC64LE,
                                     AUDIT_ARCH_S390X};
    check_number(pair, rules, number);
    for (size_t i = 0; i < LENGTH(archs); i++)
        check_foreign(pair, archs[i], number);
    for (unsigned bit = 0; bit < 32; bit++)
        check_foreign(pair, seccomp_arch_native() ^ (UINT32_C(1) << bit), number);
}

static void every_verdict_equals_libseccomps(void **state) {
    static struct bs_seccomp_rules rules;
    static struct pair pair;
    (void)state;
    for (unsigned i = 0; i < BS_SECCOMP_VARIANTS; i++) {
        const struct bs_seccomp_variant wish = bs_seccomp_variant_at(i);
        assert_true(bs_seccomp_rules_for(&wish, &rules));
        collect(&pair, &wish, &rules);
        for (uint32_t number = 0; number < 600; number++) {
            check_number(&pair, &rules, number);
            check_number(&pair, &rules, number | 0x40000000); /* numbers of the x32 calls */
            check_number(&pair, &rules, ~number);             /* negative numbers */
        }
        for (size_t k = 0; k < pair.all.n; k++)
            check_number_everywhere(&pair, &rules, pair.all.of[k]);
    }
}

/* When a program is installed, the kernel finds out which calls the program always allows, and then
 * never runs the program for them. This works only if the program reads no argument for the
 * call. */
static void calls_that_are_always_allowed_take_few_steps_and_read_no_argument(void **state) {
    static struct bs_seccomp_rules rules;
    (void)state;
    for (unsigned i = 0; i < BS_SECCOMP_VARIANTS; i++) {
        const struct bs_seccomp_variant wish = bs_seccomp_variant_at(i);
        assert_true(bs_seccomp_rules_for(&wish, &rules));
        for (int number = 0; number <= BS_SECCOMP_NEWEST; number++) {
            const struct seccomp_data data = {.nr = number, .arch = seccomp_arch_native()};
            struct answer answer = run_filter(by_us(&wish), &data);
            assert_int_equal(answer.read_argument, rules.of[number].n_cases > 0);
            if (!answer.read_argument)
                assert_in_range(answer.steps, 4, 14);
        }
    }
}

static bool is_one_of(uint32_t request, const uint32_t *list, size_t n) {
    bool found = false;
    for (size_t i = 0; i < n; i++)
        found = found || list[i] == request;
    return found;
}

static const uint32_t of_terminals[] = {TIOCSTI, 0x541C};
static const uint32_t of_btrfs[] = {0x5000940E, 0x50009418, 0x50009401,
                                    0x50009417, 0x5000940F, 0x5000943F};
static const uint32_t of_files[] = {0x40086602, 0x401C5820, 0x40806685,
                                    0x800C6613, 0x4008941A, 0xC0C89425};

/* Try requests that differ in one bit from a request in the list. */
static void ask_around(const struct bs_seccomp_variant *wish, const uint32_t *list, size_t n) {
    struct seccomp_data data = {.nr = SCMP_SYS(ioctl), .arch = seccomp_arch_native()};
    for (size_t i = 0; i < n * BITS; i++) {
        data.args[1] = list[i / BITS] ^ (UINT64_C(1) << i % BITS);
        /* only the lower half counts, because the kernel treats the request as an int */
        uint32_t request = (uint32_t)data.args[1];
        bool out = is_one_of(request, of_terminals, LENGTH(of_terminals)) ||
                   (!wish->namespaces && is_one_of(request, of_btrfs, LENGTH(of_btrfs))) ||
                   (wish->strict_metadata && is_one_of(request, of_files, LENGTH(of_files)));
        assert_int_equal(run_filter(by_us(wish), &data).verdict, out ? refused : allowed);
    }
}

static void ioctl_is_refused_by_its_request(void **state) {
    (void)state;
    for (unsigned i = 0; i < BS_SECCOMP_VARIANTS; i++) {
        const struct bs_seccomp_variant wish = bs_seccomp_variant_at(i);
        struct seccomp_data data = {.nr = SCMP_SYS(ioctl), .arch = seccomp_arch_native()};
        ask_around(&wish, of_terminals, LENGTH(of_terminals));
        ask_around(&wish, of_btrfs, LENGTH(of_btrfs));
        ask_around(&wish, of_files, LENGTH(of_files));
        data.args[1] = TCGETS;
        assert_int_equal(run_filter(by_us(&wish), &data).verdict, allowed);
    }
}

/* These calls lead out of the sandbox. The list does not depend on the rules, because a call that
 * is missing in the rules would be missing in both programs above. */
static void calls_that_lead_out_are_refused_by_each_program(void **state) {
    static const int out[] = {SCMP_SYS(mount),      SCMP_SYS(io_uring_setup),   SCMP_SYS(bpf),
                              SCMP_SYS(keyctl),     SCMP_SYS(shmget),           SCMP_SYS(setns),
                              SCMP_SYS(move_mount), SCMP_SYS(open_by_handle_at)};
    (void)state;
    for (unsigned i = 0; i < BS_SECCOMP_VARIANTS; i++) {
        const struct bs_seccomp_variant wish = bs_seccomp_variant_at(i);
        struct seccomp_data data = {.arch = seccomp_arch_native()};
        for (size_t k = 0; k < LENGTH(out); k++) {
            data.nr = out[k];
            assert_int_equal(run_filter(by_us(&wish), &data).verdict, refused);
        }
        data.nr = SCMP_SYS(mq_open);
        assert_int_equal(run_filter(by_us(&wish), &data).verdict,
                         wish.namespaces ? allowed : refused);
        data.nr = SCMP_SYS(fchmod);
        assert_int_equal(run_filter(by_us(&wish), &data).verdict,
                         wish.strict_metadata ? refused : allowed);
        data.nr = SCMP_SYS(clone3);
        assert_int_equal(run_filter(by_us(&wish), &data).verdict, no_call);
        data.nr = SCMP_SYS(unshare);
        data.args[0] = CLONE_NEWUSER;
        assert_int_equal(run_filter(by_us(&wish), &data).verdict, no_call);
        data.nr = SCMP_SYS(socket);
        data.args[0] = AF_UNIX;
        assert_int_equal(run_filter(by_us(&wish), &data).verdict, no_call);
        data.args[0] = AF_INET;
        data.args[1] = SOCK_STREAM | SOCK_CLOEXEC;
        assert_int_equal(run_filter(by_us(&wish), &data).verdict,
                         wish.namespaces || !wish.no_network ? allowed : no_call);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verdict_equals_libseccomps),
        cmocka_unit_test(calls_that_are_always_allowed_take_few_steps_and_read_no_argument),
        cmocka_unit_test(ioctl_is_refused_by_its_request),
        cmocka_unit_test(calls_that_lead_out_are_refused_by_each_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
