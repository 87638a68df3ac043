#include <boxspec/glob.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "policy/automaton.h"
#include "policy/fold.h"
#include "policy/path.h"
#include "policy/rule.h"

struct bs_glob {
    bool fold;
    struct bs_automaton automaton;
};

static const char *normalize(char *text, size_t *len) {
    if (memchr(text, '\0', *len) != NULL)
        return "the glob holds a NUL";
    if (bs_utf8_valid_prefix(text, *len) != *len)
        return "the glob is not valid UTF-8";
    while (*len > 0 && (text[*len - 1] == ' ' || text[*len - 1] == '\t'))
        --*len;
    size_t blanks = 0;
    while (blanks < *len && (text[blanks] == ' ' || text[blanks] == '\t'))
        blanks++;
    *len -= blanks;
    memmove(text, text + blanks, *len);
    const char *problem = NULL;
    if (bs_rule_body_normalize(text, len, &problem) != BS_OK)
        return problem;
    if (*len > BS_GLOB_MOST_BYTES)
        return "the glob is longer than 65536 bytes";
    return NULL;
}

int bs_glob_compile(const char *pattern, size_t len, enum bs_case sensitivity, struct bs_glob **out,
                    struct bs_error *err) {
    int code = BS_E_EXECUTION;
    struct bs_glob *glob = calloc(1, sizeof *glob);
    char *text = malloc(len + 1);
    char *folded = NULL;
    if (glob == NULL || text == NULL)
        goto finish;
    memcpy(text, pattern, len);
    const char *problem = normalize(text, &len);
    if (problem != NULL) {
        code = bs_fail(err, BS_E_INVALID, 0, "%s", problem);
        goto finish;
    }
    struct bs_pattern body = {text, len};
    glob->fold = sensitivity == BS_CASE_FOLD;
    if (glob->fold) {
        folded = malloc(BS_FOLD_ROOM(len));
        if (folded == NULL || !bs_fold(text, len, folded, &body.len))
            goto finish;
        body.text = folded;
    }
    if (!bs_automaton_build(&glob->automaton, &body, NULL, 1))
        goto finish;
    *out = glob;
    glob = NULL;
    code = BS_OK;
finish:
    if (code == BS_E_EXECUTION)
        bs_fail(err, code, 0, "no memory for a glob");
    free(glob);
    free(folded);
    free(text);
    return code;
}

/* `scratch` has room for the normal form and its folding. */
static const char *match(const struct bs_glob *glob, const char *path, size_t len, char *scratch,
                         bool *matched, bool *out_of_memory) {
    struct bs_path_view view;
    const char *problem = bs_path_view(path, len, scratch, &view);
    if (problem != NULL)
        return problem;
    if (view.len == 1 && view.text[0] == '.')
        view.len = 0;
    if (glob->fold) {
        char *folded = scratch + len + 1;
        *out_of_memory = !bs_fold(view.text, view.len, folded, &view.len);
        view.text = folded;
    }
    if (!*out_of_memory)
        *matched = bs_automaton_highest(&glob->automaton, view.text, view.len) != BS_NO_RULE;
    return NULL;
}

int bs_glob_match(const struct bs_glob *glob, const char *path, size_t len, bool *matched,
                  struct bs_error *err) {
    char on_stack[BS_GLOB_PATH_BYTES + 1 + BS_FOLD_ROOM(BS_GLOB_PATH_BYTES)];
    char *from_heap = NULL;
    char *scratch = on_stack;
    bool out_of_memory = false;
    const char *problem = NULL;
    if (len > BS_GLOB_PATH_BYTES)
        scratch = from_heap = malloc(len + 1 + (glob->fold ? BS_FOLD_ROOM(len) : 0));
    if (scratch == NULL)
        out_of_memory = true;
    else
        problem = match(glob, path, len, scratch, matched, &out_of_memory);
    free(from_heap);
    if (out_of_memory)
        return bs_fail(err, BS_E_EXECUTION, 0, "no memory for a path of %zu bytes", len);
    return problem == NULL ? BS_OK : bs_fail(err, BS_E_INVALID, 0, "%s", problem);
}

void bs_glob_free(struct bs_glob *glob) {
    if (glob == NULL)
        return;
    bs_automaton_clear(&glob->automaton);
    free(glob);
}
