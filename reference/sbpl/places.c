#include "sbpl/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "policy/path/fold.h"
#include "sbpl/place.h"
#include "sbpl/spell.h"

enum { SHOWN = 400 };

const char *bs_places_side_root(size_t i, char *buf) {
    (void)snprintf(buf, BS_SIDE_ROOT_NAME, "side_roots[%zu]", i);
    return buf;
}

void bs_places_close(struct bs_places *places) {
    for (size_t i = 0; i < places->n_side_roots; i++)
        bs_bytes_clear(&places->side_roots[i]);
    free(places->side_roots);
    bs_bytes_clear(&places->root);
    bs_bytes_clear(&places->home);
    bs_bytes_clear(&places->codex_home);
    bs_bytes_clear(&places->claude_config_dir);
    memset(places, 0, sizeof *places);
}

static int make_variable(const char *field, const char *value, struct bs_bytes *place,
                         struct bs_error *err) {
    return value != NULL && value[0] != '\0' ? bs_place_make(field, value, place, err) : BS_OK;
}

/* Copy the path in the form in which the file system compares paths: folded if `folds` is true. */
static int folded(const struct bs_bytes *place, bool folds, struct bs_bytes *copy,
                  struct bs_error *err) {
    struct bs_buf made = BS_BUF_INIT;
    size_t len = place->len;
    if (!folds)
        bs_buf_add(&made, place->data, len);
    else if (bs_buf_reserve(&made, BS_FOLD_ROOM(len)))
        made.failed = !bs_fold(place->data, place->len, made.data, &len);
    if (made.failed) {
        bs_buf_clear(&made);
        return bs_fail(err, BS_E_EXECUTION, 0, "out of memory for a path of %zu bytes", place->len);
    }
    made.len = len;
    *copy = bs_buf_take(&made);
    return BS_OK;
}

/* Check the path of a variable. The whole directory that the variable names becomes writable, so it
 * must not contain HOME. */
static int judge_variable(const char *field, const struct bs_bytes *place,
                          const struct bs_bytes *home, bool folds, struct bs_error *err) {
    struct bs_bytes here = BS_BYTES_INIT;
    struct bs_bytes there = BS_BYTES_INIT;
    if (place->data == NULL)
        return BS_OK;
    int code = folded(place, folds, &here, err);
    if (code == BS_OK && home->data != NULL)
        code = folded(home, folds, &there, err);
    if (code == BS_OK && (here.len == 1 || (there.data != NULL && bs_place_holds(&here, &there)))) {
        char shown[SHOWN];
        code = bs_fail(err, BS_E_INVALID, 0,
                       "%s: `%s` holds %s, and all of it would be writable; name a directory of "
                       "its own",
                       field, bs_spell_for_people(place->data, place->len, shown, sizeof shown),
                       there.data != NULL ? "the home directory" : "everything");
    }
    bs_bytes_clear(&here);
    bs_bytes_clear(&there);
    return code;
}

static int judge_variables(const struct bs_places *places, bool folds, struct bs_error *err) {
    const struct bs_bytes *home = &places->home;
    if (home->data != NULL && home->len == 1)
        return bs_fail(err, BS_E_INVALID, 0,
                       "env.HOME: `/` has the caches of the system; name the directory of a user");
    int code = judge_variable("env.CODEX_HOME", &places->codex_home, home, folds, err);
    if (code == BS_OK)
        code =
            judge_variable("env.CLAUDE_CONFIG_DIR", &places->claude_config_dir, home, folds, err);
    return code;
}

/* Check a side root against the paths that must not be read. Programs may write to everything in a
 * side root. If the side root overlapped such a path, a program could move the path to a place
 * where it can be read. */
static int judge_side_root(const struct bs_places *places, size_t i,
                           const struct bs_both_bodies *both, bool folds, struct bs_error *err) {
    const struct bs_bodies *read = &both->lists[BS_OP_READ];
    struct bs_bytes side = BS_BYTES_INIT;
    struct bs_bytes root = BS_BYTES_INIT;
    struct bs_buf place = BS_BUF_INIT;
    int code = folded(&places->side_roots[i], folds, &side, err);
    if (code == BS_OK)
        code = folded(&places->root, folds, &root, err);
    for (size_t k = read->denied_from; k < read->n && code == BS_OK; k++) {
        size_t len = read->items[k].place;
        if (!read->entries[k].negated || (len == 0 && !bs_body_is_root(&read->items[k])))
            continue;
        place.len = 0;
        bs_buf_add(&place, root.data, root.len);
        if (len > 0 && root.len > 1)
            bs_buf_char(&place, '/');
        bs_buf_add(&place, read->items[k].text, len);
        struct bs_bytes there = {place.data, place.len};
        char name[BS_SIDE_ROOT_NAME];
        char rule[64];
        char shown[SHOWN];
        char shown_rule[SHOWN];
        if (place.failed)
            code = bs_fail(err, BS_E_EXECUTION, 0, "out of memory for a path");
        else if (bs_place_holds(&side, &there) || bs_place_holds(&there, &side))
            code = bs_fail(
                err, BS_E_INVALID, 0,
                "%s: `%s` overlaps %s, `%s`, which must not be read; name another directory",
                bs_places_side_root(i, name),
                bs_spell_for_people(places->side_roots[i].data, places->side_roots[i].len, shown,
                                    sizeof shown),
                bs_body_name(both, BS_OP_READ, k, rule, sizeof rule),
                bs_spell_for_people(read->entries[k].rule, read->entries[k].rule_len, shown_rule,
                                    sizeof shown_rule));
    }
    bs_buf_clear(&place);
    bs_bytes_clear(&side);
    bs_bytes_clear(&root);
    return code;
}

static int make_side_roots(const struct bs_sbpl_input *input, struct bs_places *places,
                           struct bs_error *err) {
    int code = BS_OK;
    places->side_roots = calloc(input->n_side_roots + 1, sizeof *places->side_roots);
    if (places->side_roots == NULL)
        return bs_fail(err, BS_E_EXECUTION, 0, "out of memory for %zu side roots",
                       input->n_side_roots);
    for (size_t i = 0; i < input->n_side_roots && code == BS_OK; i++) {
        char name[BS_SIDE_ROOT_NAME];
        code = bs_place_make(bs_places_side_root(i, name), input->side_roots[i],
                             &places->side_roots[i], err);
        places->n_side_roots += code == BS_OK;
    }
    return code;
}

int bs_places_open(const struct bs_sbpl_input *input, const struct bs_both_bodies *both,
                   struct bs_places *places, struct bs_error *err) {
    struct bs_places made = {.side_roots = NULL};
    bool folds = bs_profile_folds(input->profile);
    int code = bs_place_make("root", input->root, &made.root, err);
    if (code == BS_OK)
        code = make_variable("env.HOME", input->home, &made.home, err);
    if (code == BS_OK)
        code = make_variable("env.CODEX_HOME", input->codex_home, &made.codex_home, err);
    if (code == BS_OK)
        code = make_variable("env.CLAUDE_CONFIG_DIR", input->claude_config_dir,
                             &made.claude_config_dir, err);
    if (code == BS_OK)
        code = judge_variables(&made, folds, err);
    if (code == BS_OK)
        code = make_side_roots(input, &made, err);
    for (size_t i = 0; i < made.n_side_roots && code == BS_OK; i++) {
        if (input->provider == BS_PROVIDER_CODEX)
            code = judge_side_root(&made, i, both, folds, err);
    }
    if (code != BS_OK) {
        bs_places_close(&made);
        return code;
    }
    *places = made;
    return BS_OK;
}
