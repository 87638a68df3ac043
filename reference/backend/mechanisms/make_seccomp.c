/* Writes the seccomp programs as C, one for each wish, when the project is built.
 *
 * The kernel walks a program once for every number there is when it is installed (it notes which
 * calls are always allowed), and it translates every instruction. So a program is short, and so is
 * each way through it: the numbers are ranges with one answer, which a binary tree looks up, and
 * arguments are looked at behind that. What libseccomp makes of the same rules has an instruction
 * or two for each call and costs several times as much; the test of the filters compares with it.
 *
 * All jumps lead forward, so a program is written from its end: what an instruction leads to is
 * there before it. A place is counted from the end, too. */
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

#include "backend/mechanisms/seccomp_rules.h"

enum { MOST_RETURNS = 8, FARTHEST = 255 };

struct program {
    struct sock_filter code[BPF_MAXINSNS]; /* the last is at the end */
    unsigned n;
    struct {
        uint32_t answer;
        unsigned place;
    } returns[MOST_RETURNS];
    unsigned n_returns;
    bool broken; /* too long, or a jump too far */
};

/* What the instruction before the one at `place` can go on to without a jump. */
static unsigned put(struct program *program, struct sock_filter one) {
    if (program->n == BPF_MAXINSNS) {
        program->broken = true;
        return 0;
    }
    unsigned place = program->n++;
    program->code[BPF_MAXINSNS - 1 - place] = one;
    return place;
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
            return program->returns[i].place;
    }
    unsigned place = put(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
    if (program->n_returns == MOST_RETURNS) {
        program->broken = true;
        return place;
    }
    program->returns[program->n_returns].answer = answer;
    program->returns[program->n_returns++].place = place;
    return place;
}

static unsigned put_test(struct program *program, const struct bs_filter_test *test, unsigned yes,
                         unsigned no) {
    for (unsigned i = 0; i < test->n_values; i++)
        no = put_jump(program, BPF_JEQ, test->values[i], yes, no);
    if (test->mask != UINT32_MAX)
        (void)put(program, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, test->mask));
    put_load(program, offsetof(struct seccomp_data, args) + test->arg * sizeof(uint64_t) +
                          (BYTE_ORDER == BIG_ENDIAN ? sizeof(uint32_t) : 0));
    return program->n - 1;
}

static unsigned put_rule(struct program *program, const struct bs_filter_rule *rule) {
    unsigned place = put_return(program, rule->answer);
    unsigned matching = rule->n_cases > 0 ? put_return(program, rule->matching) : place;
    for (unsigned i = rule->n_cases; i-- > 0;) {
        const struct bs_filter_case *one = &rule->cases[i];
        unsigned no = place;
        unsigned yes = matching;
        for (unsigned j = one->n_tests; j-- > 0;)
            yes = put_test(program, &one->tests[j], yes, no);
        place = yes;
    }
    return place;
}

/* Numbers from `first` to the next range, and where their answer is found. */
struct range {
    uint32_t first;
    unsigned place;
};

struct ranges {
    struct range of[BS_FILTER_NEWEST + 2];
    unsigned n;
};

/* The range has one number only; the last one never has. */
static bool is_single(const struct ranges *ranges, unsigned i) {
    return i + 1 < ranges->n && ranges->of[i].first + 1 == ranges->of[i + 1].first;
}

/* A few numbers among others that have all the same answer are asked for one by one. */
static bool put_list(struct program *program, const struct ranges *ranges, unsigned from,
                     unsigned to, unsigned *place) {
    enum { MOST = 3 };
    unsigned rest = to - 1;
    unsigned n = 0;
    for (unsigned i = from; i < to; i++) {
        if (!is_single(ranges, i))
            rest = i;
    }
    for (unsigned i = from; i < to; i++) {
        bool same = ranges->of[i].place == ranges->of[rest].place;
        if (!same && !is_single(ranges, i))
            return false;
        n += !same;
    }
    if (n > MOST)
        return false;
    *place = ranges->of[rest].place;
    for (unsigned i = to; i-- > from;) {
        if (ranges->of[i].place != ranges->of[rest].place)
            *place = put_jump(program, BPF_JEQ, ranges->of[i].first, ranges->of[i].place, *place);
    }
    return true;
}

static unsigned put_tree(struct program *program, const struct ranges *ranges, unsigned from,
                         unsigned to) {
    unsigned place = 0;
    if (put_list(program, ranges, from, to, &place))
        return place;
    unsigned middle = from + (to - from) / 2;
    unsigned high = put_tree(program, ranges, middle, to);
    unsigned low = put_tree(program, ranges, from, middle);
    return put_jump(program, BPF_JGE, ranges->of[middle].first, high, low);
}

static bool is_same(const struct bs_filter_rule *a, const struct bs_filter_rule *b) {
    return a->answer == b->answer && a->matching == b->matching && a->n_cases == b->n_cases &&
           memcmp(a->cases, b->cases, sizeof a->cases) == 0;
}

static void put_rules(struct program *program, const struct bs_filter_rules *rules,
                      struct ranges *ranges) {
    unsigned places[BS_FILTER_NEWEST + 1];
    ranges->n = 0;
    for (unsigned number = 0; number <= BS_FILTER_NEWEST; number++) {
        unsigned earlier = 0;
        while (!is_same(&rules->of[earlier], &rules->of[number]))
            earlier++;
        places[number] = earlier < number ? places[earlier] : put_rule(program, &rules->of[number]);
        if (number == 0 || places[number] != places[number - 1])
            ranges->of[ranges->n++] = (struct range){number, places[number]};
    }
    /* Those of x32 are among them, which have a bit of their own. */
    ranges->of[ranges->n++] =
        (struct range){BS_FILTER_NEWEST + 1, put_return(program, SECCOMP_RET_ERRNO | ENOSYS)};
}

static bool put_program(struct program *program, const struct bs_filter_rules *rules) {
    static struct ranges ranges;
    memset(program, 0, sizeof *program);
    unsigned unknown = put_return(program, SECCOMP_RET_ERRNO | ENOSYS);
    put_rules(program, rules, &ranges);
    unsigned tree = put_tree(program, &ranges, 0, ranges.n);
    if (tree + 1 != program->n) /* the load goes on to what lies behind it */
        program->broken = true;
    put_load(program, offsetof(struct seccomp_data, nr));
    (void)put_jump(program, BPF_JEQ, seccomp_arch_native(), program->n - 1, unknown);
    put_load(program, offsetof(struct seccomp_data, arch));
    return !program->broken;
}

static bool put_filter(const struct bs_filter_wish *wish, FILE *out) {
    static struct bs_filter_rules rules;
    static struct program program;
    if (!bs_filter_rules_for(wish, &rules) || !put_program(&program, &rules))
        return false;
    (void)fprintf(out, "static const struct sock_filter filter_%u[] = {\n", bs_filter_number(wish));
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
    for (unsigned i = 0; good && i < BS_N_FILTERS; i++) {
        const struct bs_filter_wish wish = bs_filter_wish_of(i);
        good = put_filter(&wish, out);
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
