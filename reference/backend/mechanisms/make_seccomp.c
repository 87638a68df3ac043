/* Writes the seccomp programs as C source, one for each variant, when the project is built.
 *
 * A program and each path through it should be short: when a program is installed, the kernel
 * translates each instruction and runs the program once for each system call number, to find out
 * which calls are always allowed. So a binary tree finds the range that contains the number; all
 * numbers of a range have the same answer. Tests of arguments follow after the tree. From the same
 * rules, libseccomp would make one or two instructions for each system call, and installing them
 * takes several times as long. A test compares the program with that of libseccomp.
 *
 * Jumps only lead forward. So a program is built from its end: the target of a jump exists before
 * the jump. Positions are counted from the end as well. */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "backend/mechanisms/seccomp.h"
#include "backend/mechanisms/seccomp_rules.h"

enum { MOST_RETURNS = 8, FARTHEST = 255 };

struct program {
    struct sock_filter code[BPF_MAXINSNS]; /* filled from its end */
    unsigned n;
    struct {
        uint32_t answer;
        unsigned position;
    } returns[MOST_RETURNS];
    unsigned n_returns;
    bool broken; /* the program or a jump is too long */
};

/* Add an instruction in front of all others and return its position. */
static unsigned put(struct program *program, struct sock_filter one) {
    if (program->n == BPF_MAXINSNS) {
        program->broken = true;
        return 0;
    }
    unsigned position = program->n++;
    program->code[BPF_MAXINSNS - 1 - position] = one;
    return position;
}

static void put_load(struct program *program, size_t offset) {
    (void)put(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static unsigned put_jump(struct program *program, unsigned condition, uint32_t value, unsigned yes,
                         unsigned no) {
    unsigned to_yes = program->n - yes - 1;
    unsigned to_no = program->n - no - 1;
    if (to_yes > FARTHEST || to_no > FARTHEST)
        program->broken = true;
    return put(program,
               (struct sock_filter)BPF_JUMP((unsigned short)(BPF_JMP | condition | BPF_K), value,
                                            (unsigned char)to_yes, (unsigned char)to_no));
}

static unsigned put_return(struct program *program, uint32_t answer) {
    for (unsigned i = 0; i < program->n_returns; i++) {
        if (program->returns[i].answer == answer)
            return program->returns[i].position;
    }
    unsigned position = put(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
    if (program->n_returns == MOST_RETURNS) {
        program->broken = true;
        return position;
    }
    program->returns[program->n_returns].answer = answer;
    program->returns[program->n_returns++].position = position;
    return position;
}

static unsigned put_test(struct program *program, const struct bs_seccomp_test *test, unsigned yes,
                         unsigned no) {
    for (unsigned i = 0; i < test->n_values; i++)
        no = put_jump(program, BPF_JEQ, test->values[i], yes, no);
    if (test->mask != UINT32_MAX)
        (void)put(program, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, test->mask));
    put_load(program, offsetof(struct seccomp_data, args) + test->arg * sizeof(uint64_t) +
                          (BYTE_ORDER == BIG_ENDIAN ? sizeof(uint32_t) : 0));
    return program->n - 1;
}

static unsigned put_rule(struct program *program, const struct bs_seccomp_rule *rule) {
    unsigned position = put_return(program, rule->answer);
    unsigned matching = rule->n_cases > 0 ? put_return(program, rule->matching) : position;
    for (unsigned i = rule->n_cases; i-- > 0;) {
        const struct bs_seccomp_case *one = &rule->cases[i];
        unsigned no = position;
        unsigned yes = matching;
        for (unsigned j = one->n_tests; j-- > 0;)
            yes = put_test(program, &one->tests[j], yes, no);
        position = yes;
    }
    return position;
}

/* A range of system call numbers and the position of their common answer. The range begins at
 * `first` and ends before the next range. */
struct range {
    uint32_t first;
    unsigned position;
};

struct ranges {
    struct range of[BS_SECCOMP_NEWEST + 2];
    unsigned n;
};

/* True if the range has only one number. The last range has no end, so it is never single. */
static bool is_single(const struct ranges *ranges, unsigned i) {
    return i + 1 < ranges->n && ranges->of[i].first + 1 == ranges->of[i + 1].first;
}

/* If all ranges have the same answer except a few single numbers, write a comparison for each of
 * these numbers instead of a tree. */
static bool put_list(struct program *program, const struct ranges *ranges, unsigned from,
                     unsigned to, unsigned *position) {
    enum { MOST = 3 };
    unsigned rest = to - 1;
    unsigned n = 0;
    for (unsigned i = from; i < to; i++) {
        if (!is_single(ranges, i))
            rest = i;
    }
    for (unsigned i = from; i < to; i++) {
        bool same = ranges->of[i].position == ranges->of[rest].position;
        if (!same && !is_single(ranges, i))
            return false;
        n += !same;
    }
    if (n > MOST)
        return false;
    *position = ranges->of[rest].position;
    for (unsigned i = to; i-- > from;) {
        if (ranges->of[i].position != ranges->of[rest].position)
            *position =
                put_jump(program, BPF_JEQ, ranges->of[i].first, ranges->of[i].position, *position);
    }
    return true;
}

static unsigned put_tree(struct program *program, const struct ranges *ranges, unsigned from,
                         unsigned to) {
    unsigned position = 0;
    if (put_list(program, ranges, from, to, &position))
        return position;
    unsigned middle = from + (to - from) / 2;
    unsigned high = put_tree(program, ranges, middle, to);
    unsigned low = put_tree(program, ranges, from, middle);
    return put_jump(program, BPF_JGE, ranges->of[middle].first, high, low);
}

static bool is_same(const struct bs_seccomp_rule *a, const struct bs_seccomp_rule *b) {
    return a->answer == b->answer && a->matching == b->matching && a->n_cases == b->n_cases &&
           memcmp(a->cases, b->cases, sizeof a->cases) == 0;
}

static void put_rules(struct program *program, const struct bs_seccomp_rules *rules,
                      struct ranges *ranges) {
    unsigned positions[BS_SECCOMP_NEWEST + 1];
    ranges->n = 0;
    for (unsigned number = 0; number <= BS_SECCOMP_NEWEST; number++) {
        unsigned earlier = 0;
        while (!is_same(&rules->of[earlier], &rules->of[number]))
            earlier++;
        positions[number] =
            earlier < number ? positions[earlier] : put_rule(program, &rules->of[number]);
        if (number == 0 || positions[number] != positions[number - 1])
            ranges->of[ranges->n++] = (struct range){number, positions[number]};
    }
    /* Refuse the calls of x32, whose numbers have an additional bit. */
    ranges->of[ranges->n++] =
        (struct range){BS_SECCOMP_NEWEST + 1, put_return(program, SECCOMP_RET_ERRNO | ENOSYS)};
}

static bool put_program(struct program *program, const struct bs_seccomp_rules *rules) {
    static struct ranges ranges;
    memset(program, 0, sizeof *program);
    unsigned unknown = put_return(program, SECCOMP_RET_ERRNO | ENOSYS);
    put_rules(program, rules, &ranges);
    unsigned tree = put_tree(program, &ranges, 0, ranges.n);
    /* execution continues at the instruction after the load, so the tree must be there */
    if (tree + 1 != program->n)
        program->broken = true;
    put_load(program, offsetof(struct seccomp_data, nr));
    (void)put_jump(program, BPF_JEQ, seccomp_arch_native(), program->n - 1, unknown);
    put_load(program, offsetof(struct seccomp_data, arch));
    return !program->broken;
}

static bool put_filter(const struct bs_seccomp_variant *variant, FILE *out) {
    static struct bs_seccomp_rules rules;
    static struct program program;
    if (!bs_seccomp_rules_for(variant, &rules) || !put_program(&program, &rules))
        return false;
    (void)fprintf(out, "static const struct sock_filter filter_%u[] = {\n",
                  bs_seccomp_variant_index(variant));
    for (unsigned i = program.n; i-- > 0;) {
        const struct sock_filter *one = &program.code[BPF_MAXINSNS - 1 - i];
        (void)fprintf(out, "    {0x%04x, %u, %u, 0x%08x},\n", one->code, one->jt, one->jf, one->k);
    }
    (void)fputs("};\n\n", out);
    return true;
}

int main(int argc, char **argv) {
    FILE *out = argc == 2 ? fopen(argv[1], "we") : NULL;
    if (out == NULL) {
        (void)fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    bool good = true;
    (void)fputs("/* Written by make_seccomp.c. */\n", out);
    for (unsigned i = 0; good && i < BS_SECCOMP_VARIANTS; i++) {
        const struct bs_seccomp_variant variant = bs_seccomp_variant_at(i);
        good = put_filter(&variant, out);
    }
    if (fclose(out) != 0 || !good) {
        (void)fprintf(stderr,
                      "%s: the programs cannot be written: a call has two rules, or a jump is "
                      "longer than %d\n",
                      argv[0], FARTHEST);
        (void)remove(argv[1]);
        return 1;
    }
    return 0;
}
