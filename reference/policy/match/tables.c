#include "policy/match/tables.h"

#include <stdlib.h>
#include <string.h>

/* A table has at most 128 KiB, so that it stays in the second-level cache. Building it takes at
 * most about 10 ms. */
static const struct bs_dfa_limits limits = {65536, 8000000};

enum side { FRONT, BACK, SIDES };

static bool is_wild(char c) { return c == '*' || c == '?'; }

static bool begins_with_gap(const struct bs_pattern *pattern) {
    return pattern->len > 2 && memcmp(pattern->text, "**", 2) == 0;
}

/* True if the pattern can be matched from the end of the path. This is not possible with a `?`, or
 * with a star that needs a character, because the length of a character is only known from its
 * first byte. Any other pattern matches a path exactly if the reversed pattern matches the reversed
 * path. */
static bool has_mirror_image(const struct bs_pattern *pattern) {
    for (size_t i = 0; i < pattern->len; i++) {
        char before = i > 0 ? pattern->text[i - 1] : '/';
        char behind = i + 1 < pattern->len ? pattern->text[i + 1] : '/';
        if (pattern->text[i] == '?' || (pattern->text[i] == '*' && before == '/' && behind == '/'))
            return false;
    }
    return true;
}

static enum side side_of(const struct bs_pattern *pattern) {
    if (!is_wild(pattern->text[0]) || is_wild(pattern->text[pattern->len - 1]))
        return FRONT;
    return has_mirror_image(pattern) ? BACK : FRONT;
}

bool bs_tables_reads_all(const struct bs_pattern *pattern) {
    return begins_with_gap(pattern) && side_of(pattern) == FRONT;
}

/* The patterns of one table. For the table that reads from the end of the path, they are
 * reversed. */
struct chosen {
    struct bs_pattern *patterns;
    uint32_t *rules;
    char *texts;
    size_t n;
    size_t states;
};

static void add(struct chosen *chosen, const struct bs_pattern *pattern, size_t rule,
                enum side side, size_t *used) {
    const char *text = pattern->text;
    if (side == BACK) {
        char *mirrored = chosen->texts + *used;
        for (size_t i = 0; i < pattern->len; i++)
            mirrored[i] = text[pattern->len - 1 - i];
        *used += pattern->len;
        text = mirrored;
    }
    chosen->patterns[chosen->n] = (struct bs_pattern){text, pattern->len};
    chosen->rules[chosen->n] = (uint32_t)rule;
    chosen->states += bs_automaton_states(&chosen->patterns[chosen->n]);
    chosen->n++;
}

static bool choose(struct chosen *chosen, const struct bs_pattern *patterns, size_t n,
                   const bool *in, enum side side) {
    size_t room = 1;
    for (size_t i = 0; i < n; i++)
        room += side == BACK ? patterns[i].len : 0;
    chosen->patterns = calloc(n + 1, sizeof *chosen->patterns);
    chosen->rules = calloc(n + 1, sizeof *chosen->rules);
    chosen->texts = malloc(room);
    if (chosen->patterns == NULL || chosen->rules == NULL || chosen->texts == NULL)
        return false;
    size_t used = 0;
    for (size_t i = 0; i < n && chosen->states <= BS_DFA_MOST_STATES_IN; i++) {
        if (in[i] && side_of(&patterns[i]) == side)
            add(chosen, &patterns[i], i, side, &used);
    }
    return true;
}

static enum bs_dfa_result build_side(struct bs_tables *tables, const struct bs_pattern *patterns,
                                     size_t n, const bool *in, enum side side) {
    struct chosen chosen = {0};
    struct bs_automaton automaton = {0};
    enum bs_dfa_result result = BS_DFA_NO_MEMORY;
    if (choose(&chosen, patterns, n, in, side)) {
        if (chosen.states > BS_DFA_MOST_STATES_IN)
            result = BS_DFA_TOO_LARGE;
        else if (chosen.n == 0)
            result = BS_DFA_BUILT;
        else if (bs_automaton_build(&automaton, chosen.patterns, chosen.rules, chosen.n, NULL))
            result =
                bs_dfa_build(side == BACK ? &tables->back : &tables->front, &automaton, limits);
    }
    if (result == BS_DFA_BUILT && chosen.n > 0 &&
        (int32_t)chosen.rules[chosen.n - 1] > tables->most)
        tables->most = (int32_t)chosen.rules[chosen.n - 1];
    bs_automaton_clear(&automaton);
    free(chosen.patterns);
    free(chosen.rules);
    free(chosen.texts);
    return result;
}

enum bs_dfa_result bs_tables_build(struct bs_tables *tables, const struct bs_pattern *patterns,
                                   size_t n, const bool *in) {
    *tables = (struct bs_tables){.most = BS_NO_RULE};
    enum bs_dfa_result result = BS_DFA_BUILT;
    for (int side = 0; side < SIDES && result == BS_DFA_BUILT; side++)
        result = build_side(tables, patterns, n, in, (enum side)side);
    if (result != BS_DFA_BUILT)
        bs_tables_clear(tables);
    return result;
}

void bs_tables_clear(struct bs_tables *tables) {
    bs_dfa_clear(&tables->front);
    bs_dfa_clear(&tables->back);
    tables->most = BS_NO_RULE;
}

static int32_t from_front(const struct bs_dfa *dfa, const char *path, size_t len) {
    uint32_t row = dfa->start;
    for (size_t i = 0; i < len && row >= dfa->settled; i++)
        row = bs_dfa_step(dfa, row, path[i]);
    return bs_dfa_answer(dfa, row);
}

static int32_t from_back(const struct bs_dfa *dfa, const char *path, size_t len) {
    uint32_t row = dfa->start;
    for (size_t i = len; i > 0 && row >= dfa->settled; i--)
        row = bs_dfa_step(dfa, row, path[i - 1]);
    return bs_dfa_answer(dfa, row);
}

/* Step through both tables until both are in a row that is never left. One loop serves both,
 * because further steps do not leave such a row. */
static int32_t from_both(const struct bs_tables *tables, const char *path, size_t len) {
    const struct bs_dfa *front = &tables->front;
    const struct bs_dfa *back = &tables->back;
    uint32_t first = front->start;
    uint32_t last = back->start;
    for (size_t i = 0; i < len; i++) {
        first = bs_dfa_step(front, first, path[i]);
        last = bs_dfa_step(back, last, path[len - 1 - i]);
        /* Stop when no further character leaves either row. One branch tests both. */
        if (((first - front->settled) & (last - back->settled)) >> 31 != 0)
            break;
    }
    int32_t a = bs_dfa_answer(front, first);
    int32_t b = bs_dfa_answer(back, last);
    return a > b ? a : b;
}

int32_t bs_tables_highest(const struct bs_tables *tables, const char *path, size_t len) {
    if (tables->back.next == NULL)
        return from_front(&tables->front, path, len);
    if (tables->front.next == NULL)
        return from_back(&tables->back, path, len);
    return from_both(tables, path, len);
}
