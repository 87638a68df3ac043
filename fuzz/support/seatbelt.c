#include "support/seatbelt.h"

#include <string.h>

enum { MOST_STRING = 1000 };

struct reader {
    const char *at;
    const char *end;
    struct bs_fuzz_pool *pool;
    struct bs_fuzz_expression *expressions;
    const char *why;
};

static bool refuse(struct reader *r, const char *why) {
    if (r->why == NULL)
        r->why = why;
    return false;
}

static bool accept_text(struct reader *r, const char *text) {
    size_t len = strlen(text);
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, text, len) != 0)
        return false;
    r->at += len;
    return true;
}

/* Read a quoted string. Only quote and backslash may be escaped. */
static bool take_string(struct reader *r, const char **text, size_t *len) {
    if (!accept_text(r, "\""))
        return refuse(r, "a string is due");
    char *decoded = bs_fuzz_take(r->pool, (size_t)(r->end - r->at) + 1);
    const char *start = r->at;
    *len = 0;
    while (r->at < r->end && *r->at != '"') {
        unsigned char c = (unsigned char)*r->at;
        if (c < 0x20 || c == 0x7F)
            return refuse(r, "a control character in a string");
        r->at += c == '\\';
        if (r->at == r->end || (c == '\\' && *r->at != '"' && *r->at != '\\'))
            return refuse(r, "an unknown escape");
        decoded[(*len)++] = *r->at++;
    }
    if (r->at - start > MOST_STRING)
        return refuse(r, "a string that is too long");
    *text = decoded;
    return accept_text(r, "\"") || refuse(r, "a string without an end");
}

/* True if an expression uses only the dialect that is known to work: characters, escapes of special
 * characters, classes, groups, alternation, and at most one of `* + ?` after each of these. */
static bool is_known_dialect(const char *text, size_t len) {
    if (len < 2 || text[0] != '^' || text[len - 1] != '$')
        return false;
    size_t open = 0;
    bool repeatable = false;
    for (size_t i = 1; i + 1 < len; i++) {
        char c = text[i];
        bool repeats = c == '*' || c == '+' || c == '?';
        if (repeats && !repeatable)
            return false;
        if (c == '\\' && (i + 2 >= len || strchr(".[](){}*+?^$|\\", text[++i]) == NULL))
            return false;
        if (c == '^' || c == '$' || c == '{' || c == '}' || c == ']')
            return false;
        if (c == '[') {
            const char *close = memchr(text + i + 2, ']', len - i - 2);
            if (close == NULL || memchr(text + i, '\\', (size_t)(close - text) - i) != NULL)
                return false;
            i = (size_t)(close - text);
        }
        if (c == ')' && open-- == 0)
            return false;
        open += c == '(';
        repeatable = !repeats && c != '(' && c != '|';
    }
    return open == 0;
}

static bool take_filter(struct reader *r, struct bs_seat_clause *clause) {
    static const char *const names[] = {"(literal ", "(subpath ", "(regex "};
    if (clause->n_filters == BS_SEAT_MOST_FILTERS)
        return refuse(r, "too many filters");
    struct bs_seat_filter *filter = &clause->filters[clause->n_filters++];
    int kind = BS_SEAT_LITERAL;
    while (kind <= BS_SEAT_REGEX && !accept_text(r, names[kind]))
        kind++;
    if (kind > BS_SEAT_REGEX)
        return refuse(r, "an unknown filter");
    filter->kind = (enum bs_seat_kind)kind;
    if (!take_string(r, &filter->text, &filter->len))
        return false;
    if (kind == BS_SEAT_REGEX && !is_known_dialect(filter->text, filter->len))
        return refuse(r, "an expression outside of the dialect");
    if (kind == BS_SEAT_REGEX)
        filter->expression = bs_fuzz_expression_of(&r->expressions, filter->text, r->pool);
    else if (filter->len == 0 || filter->text[0] != '/')
        return refuse(r, "a path that is not absolute");
    return accept_text(r, ")") || refuse(r, "a filter without an end");
}

static bool take_filters(struct reader *r, struct bs_seat_clause *clause) {
    if (!accept_text(r, "(require-all "))
        return take_filter(r, clause);
    return take_filter(r, clause) && accept_text(r, " ") && take_filter(r, clause) &&
           accept_text(r, ")");
}

/* Read one of the two filters about system calls. Their clauses decide about no file, and each has
 * exactly one form. */
static bool take_mac_syscall(struct reader *r) {
    return accept_text(r, "(mac-policy-name \"vnguard\")") ||
           accept_text(r, "(require-all (mac-policy-name \"Sandbox\") (mac-syscall-number 67))");
}

static const char *const operations[] = {"file-read*",
                                         "file-write*",
                                         "file-write-unlink",
                                         "process*",
                                         "signal",
                                         "ipc-posix*",
                                         "mach*",
                                         "system-fsctl",
                                         "network*",
                                         "system-socket",
                                         "system-mac-syscall",
                                         "sysctl*",
                                         "iokit*"};

static bool take_clause(struct reader *r, struct bs_seat_clause *clause) {
    clause->allows = accept_text(r, "(allow ");
    if (!clause->allows && !accept_text(r, "(deny "))
        return refuse(r, "neither an allow nor a deny");
    size_t word = 0;
    while (r->at + word < r->end && r->at[word] != ' ' && r->at[word] != ')')
        word++;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (strlen(operations[i]) == word && memcmp(operations[i], r->at, word) == 0)
            clause->op = operations[i];
    }
    if (clause->op == NULL)
        return refuse(r, "an unknown operation");
    r->at += word;
    if (accept_text(r, " ")) {
        bool mac = strcmp(clause->op, "system-mac-syscall") == 0;
        if (!(mac ? take_mac_syscall(r) : take_filters(r, clause)))
            return refuse(r, "a form that is not known");
    }
    return accept_text(r, ")\n") || refuse(r, "a clause that does not end its line");
}

bool bs_seatbelt_read(const char *text, size_t len, struct bs_fuzz_pool *pool,
                      struct bs_seatbelt *profile) {
    struct reader r = {text, text + len, pool, NULL, NULL};
    size_t lines = 0;
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    *profile = (struct bs_seatbelt){.line = 1};
    profile->clauses = bs_fuzz_take(pool, (lines + 1) * sizeof *profile->clauses);
    if (!accept_text(&r, "(version 1)\n(deny default)\n"))
        (void)refuse(&r, "not the two lines that a profile begins with");
    profile->line = 3;
    while (r.why == NULL && r.at < r.end && take_clause(&r, &profile->clauses[profile->n])) {
        profile->n++;
        profile->line++;
    }
    profile->expressions = r.expressions;
    profile->why = r.why;
    return r.why == NULL;
}

void bs_seatbelt_clear(struct bs_seatbelt *profile) {
    bs_fuzz_expressions_clear(profile->expressions);
    profile->expressions = NULL;
    profile->n = 0;
}

bool bs_seat_filter_matches(struct bs_seat_filter *filter, const char *path, size_t len) {
    if (filter->kind == BS_SEAT_REGEX)
        return bs_fuzz_expression_matches(filter->expression, path);
    bool begins = len >= filter->len && memcmp(path, filter->text, filter->len) == 0;
    if (filter->kind == BS_SEAT_LITERAL)
        return begins && len == filter->len;
    return begins && (len == filter->len || filter->len == 1 || path[filter->len] == '/');
}

static bool applies(struct bs_seat_clause *clause, const char *path, size_t len) {
    for (size_t i = 0; i < clause->n_filters; i++) {
        if (!bs_seat_filter_matches(&clause->filters[i], path, len))
            return false;
    }
    return true;
}

/* An operation belongs to operations that are more and more general, for example `file-write-data`,
 * `file-write*`, `file*`. True if `step` is number `number` of this list for `op`. */
static bool is_step(const char *op, const char *step, size_t number) {
    if (number == 0)
        return strcmp(op, step) == 0;
    size_t len = strlen(step);
    size_t dashes = 0;
    for (const char *c = op; *c != '\0'; c++)
        dashes += *c == '-';
    size_t kept = 0;
    for (size_t left = dashes + 1 - number; op[kept] != '\0'; kept++) {
        left -= op[kept] == '-';
        if (left == 0)
            break;
    }
    return len == kept + 1 && step[len - 1] == '*' && memcmp(op, step, kept) == 0;
}

static bool by_last_clause(const struct bs_seatbelt *profile, const char *op, const char *path,
                           size_t len) {
    for (size_t i = profile->n; i > 0; i--) {
        struct bs_seat_clause *clause = &profile->clauses[i - 1];
        bool covers =
            is_step(op, clause->op, 0) || is_step(op, clause->op, 1) || is_step(op, clause->op, 2);
        if (covers && applies(clause, path, len))
            return clause->allows;
    }
    return false;
}

static bool by_most_specific(const struct bs_seatbelt *profile, const char *op, const char *path,
                             size_t len) {
    for (size_t step = 0; step <= 2; step++) {
        for (int filtered = 1; filtered >= 0; filtered--) {
            for (size_t i = profile->n; i > 0; i--) {
                struct bs_seat_clause *clause = &profile->clauses[i - 1];
                if ((clause->n_filters > 0) == (filtered == 1) && is_step(op, clause->op, step) &&
                    applies(clause, path, len))
                    return clause->allows;
            }
        }
    }
    return false;
}

bool bs_seatbelt_allows(const struct bs_seatbelt *profile, enum bs_seat_reading reading,
                        const char *op, const char *path, size_t len) {
    return reading == BS_SEAT_LAST_CLAUSE ? by_last_clause(profile, op, path, len)
                                          : by_most_specific(profile, op, path, len);
}
