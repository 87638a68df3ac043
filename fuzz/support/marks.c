#include "support/marks.h"

#include <stdio.h>
#include <string.h>

enum mark {
    STAR,
    STARS,
    QUESTION,
    BRACKET,
    BRACE,
    BACKSLASH,
    NOT,
    BLANK,
    DOTS,
    SLASHES,
    ESCAPE,
    NOT_ASCII,
    N_MARKS
};

static const char *const names[N_MARKS] = {
    [STAR] = "star",       [STARS] = "stars",   [QUESTION] = "question",
    [BRACKET] = "bracket", [BRACE] = "brace",   [BACKSLASH] = "backslash",
    [NOT] = "not",         [BLANK] = "blank",   [DOTS] = "dots",
    [SLASHES] = "slashes", [ESCAPE] = "escape", [NOT_ASCII] = "not-ascii",
};

/* Return the mark of one character of a string, or N_MARKS if it has none. `before` and `after` are
 * the characters next to it. */
static enum mark mark_of(char before, char c, char after) {
    switch (c) {
    case '*':
        return before == '*' || after == '*' ? STARS : STAR;
    case '?':
        return QUESTION;
    case '[':
    case ']':
        return BRACKET;
    case '{':
    case '}':
        return BRACE;
    case '!':
        return NOT;
    case ' ':
        return BLANK;
    case '.':
        return after == '.' ? DOTS : N_MARKS;
    case '/':
        return after == '/' ? SLASHES : N_MARKS;
    default:
        return (unsigned char)c >= 0x80 ? NOT_ASCII : N_MARKS;
    }
}

unsigned bs_fuzz_marks_of(const char *json, size_t len) {
    unsigned marks = 0;
    bool inside = false;
    for (size_t i = 0; i < len; i++) {
        if (json[i] == '"') {
            inside = !inside;
        } else if (inside && json[i] == '\\' && i + 1 < len) {
            i++;
            if (json[i] == '\\')
                marks |= 1U << BACKSLASH;
            else if (json[i] != '"' && json[i] != '/')
                marks |= 1U << ESCAPE;
        } else if (inside) {
            enum mark found = mark_of(json[i - 1], json[i], i + 1 < len ? json[i + 1] : '"');
            marks |= found < N_MARKS ? 1U << found : 0;
        }
    }
    return marks;
}

const char *bs_fuzz_marks_name(unsigned marks, char room[static BS_MARKS_ROOM]) {
    size_t n = 0;
    room[0] = '\0';
    for (size_t i = 0; i < N_MARKS; i++)
        if ((marks & 1U << i) != 0)
            n += (size_t)snprintf(room + n, BS_MARKS_ROOM - n, "+%s", names[i]);
    return room;
}

static bool is_marked(unsigned marks, const char *name, size_t len) {
    for (size_t i = 0; i < N_MARKS; i++)
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
            return (marks & 1U << i) != 0;
    return false;
}

bool bs_fuzz_marks_include(unsigned marks, const char *list, size_t len) {
    const char *end = list + len;
    while (list < end) {
        const char *name = list + 1;
        const char *plus = memchr(name, '+', (size_t)(end - name));
        list = plus != NULL ? plus : end;
        if (!is_marked(marks, name, (size_t)(list - name)))
            return false;
    }
    return true;
}
