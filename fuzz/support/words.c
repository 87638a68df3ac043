#include "support/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct splitter {
    const char *at;
    char *to;
    char quote; /* the open quote, or NUL */
    bool in_word;
};

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

/* Process one character. Inside double quotes, a backslash escapes only special characters. */
static void step(struct splitter *s) {
    char c = *s->at++;
    bool shields = c == '\\' && s->quote != '\'' && *s->at != '\0' &&
                   (s->quote == '\0' || strchr("\"\\$`", *s->at) != NULL);
    s->in_word = true;
    if (shields)
        *s->to++ = *s->at++;
    else if (c == s->quote)
        s->quote = '\0';
    else if (s->quote == '\0' && (c == '"' || c == '\''))
        s->quote = c;
    else
        *s->to++ = c;
}

char **bs_fuzz_words(const char *line) {
    size_t most = strlen(line) / 2 + 3;
    char **words = malloc(most * sizeof *words + strlen(line) + 1);
    if (words == NULL)
        abort();
    size_t n = 0;
    struct splitter s = {.at = line, .to = (char *)(words + most)};
    while (*s.at != '\0') {
        if (s.quote == '\0' && is_blank(*s.at)) {
            if (s.in_word)
                *s.to++ = '\0';
            s.in_word = false;
            s.at++;
            continue;
        }
        if (!s.in_word)
            words[n++] = s.to;
        step(&s);
    }
    *s.to = '\0';
    words[n] = NULL;
    if (n > 0 && s.quote == '\0')
        return words;
    free(words);
    return NULL;
}
