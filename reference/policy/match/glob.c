#include <boxspec/glob.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "policy/match/automaton.h"
#include "policy/path/fold.h"
#include "policy/path/path.h"
#include "policy/path/rule.h"

/* Number of words for the automaton in the struct. Most globs need no more. */
enum { ROOM = 64 };

struct bs_glob {
    bool fold;
    struct bs_automaton automaton;
    uint64_t room[ROOM];
    char text[]; /* the pattern in its normal form */
};

static const char *normalize(char *text, size_t *len) {
    const char *problem = NULL;
    if (bs_rule_body_normalize(text, len, &problem) == BS_OK && *len > BS_GLOB_MOST_BYTES)
        problem = "the glob is longer than 65536 bytes";
    return problem;
}

int bs_glob_compile(const char *pattern, size_t len, enum bs_case sensitivity, struct bs_glob **out,
                    struct bs_error *err) {
    int code = BS_E_EXECUTION;
    char *folded = NULL;
    struct bs_glob *glob = malloc(sizeof *glob + len);
    if (glob == NULL)
        goto finish;
    memcpy(glob->text, pattern, len);
    const char *problem = normalize(glob->text, &len);
    if (problem != NULL) {
        code = bs_fail(err, BS_E_INVALID, 0, "%s", problem);
        goto finish;
    }
    struct bs_pattern body = {glob->text, len};
    glob->fold = sensitivity == BS_CASE_FOLD;
    if (glob->fold) {
        folded = malloc(BS_FOLD_ROOM(len));
        if (folded == NULL || !bs_fold(body.text, len, folded, &body.len))
            goto finish;
        body.text = folded;
    }
    struct bs_room room = {glob->room, ROOM};
    if (!bs_automaton_build(&glob->automaton, &body, NULL, 1, &room))
        goto finish;
    *out = glob;
    glob = NULL;
    code = BS_OK;
finish:
    if (code == BS_E_EXECUTION)
        bs_fail(err, code, 0, "out of memory for a glob");
    free(glob);
    free(folded);
    return code;
}

/* This function and the next one are not inlined, because folding needs much stack, which other
 * matches should not use. */
__attribute__((noinline)) static int match_folded(const struct bs_glob *glob,
                                                  const struct bs_path_view *view, bool *matched,
                                                  struct bs_error *err) {
    char on_stack[BS_FOLD_ROOM(BS_GLOB_PATH_BYTES)];
    char *from_heap = NULL;
    char *folded = on_stack;
    size_t len = 0;
    if (view->len > BS_GLOB_PATH_BYTES)
        folded = from_heap = malloc(BS_FOLD_ROOM(view->len));
    bool done = folded != NULL && bs_fold(view->text, view->len, folded, &len);
    if (done)
        *matched = bs_automaton_highest(&glob->automaton, folded, len) != BS_NO_RULE;
    free(from_heap);
    return done ? BS_OK
                : bs_fail(err, BS_E_EXECUTION, 0, "out of memory for a path of %zu bytes",
                          view->len);
}

__attribute__((noinline)) static int match_another_form(const struct bs_glob *glob,
                                                        const char *path, size_t len, bool plain,
                                                        bool *matched, struct bs_error *err) {
    char on_stack[BS_GLOB_PATH_BYTES + 1];
    char *from_heap = NULL;
    char *scratch = on_stack;
    if (len > BS_GLOB_PATH_BYTES)
        scratch = from_heap = malloc(len + 1);
    if (scratch == NULL)
        return bs_fail(err, BS_E_EXECUTION, 0, "out of memory for a path of %zu bytes", len);
    int code = BS_OK;
    struct bs_path_view view = {.text = path, .len = len};
    const char *problem = plain ? NULL : bs_path_view_other(path, len, scratch, &view);
    if (problem == NULL && view.len == 1 && view.text[0] == '.')
        view.len = 0;
    if (problem != NULL)
        code = bs_fail(err, BS_E_INVALID, 0, "%s", problem);
    else if (glob->fold)
        code = match_folded(glob, &view, matched, err);
    else
        *matched = bs_automaton_highest(&glob->automaton, view.text, view.len) != BS_NO_RULE;
    free(from_heap);
    return code;
}

int bs_glob_match(const struct bs_glob *glob, const char *path, size_t len, bool *matched,
                  struct bs_error *err) {
    bool plain = bs_path_is_plain(path, len);
    if (glob->fold || !plain)
        return match_another_form(glob, path, len, plain, matched, err);
    *matched = bs_automaton_highest(&glob->automaton, path, len) != BS_NO_RULE;
    return BS_OK;
}

void bs_glob_free(struct bs_glob *glob) {
    if (glob == NULL)
        return;
    bs_automaton_clear(&glob->automaton);
    free(glob);
}
