#include "support/expression.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

static bool has_choice(const char *text) {
    size_t open = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\\')
            c++;
        else if (*c == '[')
            c = strchr(c + 2, ']');
        else if (*c == '|' && open == 0)
            return true;
        else
            open += (size_t)(*c == '(') - (size_t)(*c == ')');
    }
    return false;
}

/* Set `plain` to the literal characters at the start of the expression, and return the rest. If a
 * repetition follows the last literal character, this character belongs to the rest. `plain` is
 * empty if the expression has an alternation. */
static const char *split(struct bs_fuzz_expression *expression, struct bs_fuzz_pool *pool) {
    const char *at = expression->text + 1;
    char *plain = bs_fuzz_take(pool, strlen(at) + 1);
    expression->plain = plain;
    expression->plain_len = 0;
    if (has_choice(at))
        return at;
    for (;;) {
        const char *c = *at == '\\' ? at + 1 : at;
        if ((c == at && strchr(".[](){}*+?^$|", *c) != NULL) || strchr("*+?", c[1]) != NULL)
            return at;
        plain[expression->plain_len++] = *c;
        at = c + 1;
    }
}

static void *compile(const char *rest, struct bs_fuzz_pool *pool) {
    size_t len = strlen(rest);
    char *text = bs_fuzz_take(pool, len + 2);
    regex_t *compiled = malloc(sizeof *compiled);
    text[0] = '^';
    memcpy(text + 1, rest, len + 1);
    if (compiled == NULL || regcomp(compiled, text, REG_EXTENDED | REG_NOSUB) != 0)
        abort();
    return compiled;
}

struct bs_fuzz_expression *bs_fuzz_expression_of(struct bs_fuzz_expression **list, const char *text,
                                                 struct bs_fuzz_pool *pool) {
    for (; *list != NULL; list = &(*list)->next) {
        if (strcmp((*list)->text, text) == 0)
            return *list;
    }
    *list = bs_fuzz_take(pool, sizeof **list);
    **list = (struct bs_fuzz_expression){.text = text, .pool = pool};
    return *list;
}

void bs_fuzz_expressions_clear(struct bs_fuzz_expression *list) {
    for (; list != NULL; list = list->next) {
        if (list->compiled != NULL)
            regfree(list->compiled);
        free(list->compiled);
        list->compiled = NULL;
    }
}

bool bs_fuzz_expression_matches(struct bs_fuzz_expression *expression, const char *path) {
    if (expression->asked == path)
        return expression->matched;
    if (expression->compiled == NULL)
        expression->compiled = compile(split(expression, expression->pool), expression->pool);
    expression->asked = path;
    expression->matched =
        strncmp(path, expression->plain, expression->plain_len) == 0 &&
        regexec(expression->compiled, path + expression->plain_len, 0, NULL, 0) == 0;
    return expression->matched;
}
