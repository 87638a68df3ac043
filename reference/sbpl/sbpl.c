#include <boxspec/sbpl.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sbpl/bodies.h"
#include "sbpl/filter.h"
#include "sbpl/places.h"
#include "sbpl/put.h"
#include "sbpl/spell.h"
#include "sbpl/unfold.h"
#include "sbpl/unlink.h"

struct compiler {
    const struct bs_sbpl_input *input;
    struct bs_both_bodies both;
    struct bs_places places;
    struct bs_unfold unfold;
    struct bs_filters filters;
    struct bs_buf out;
};

/* The start of each profile. The rules of a policy restrict only writing and some reading. All
 * other operations that a program needs to start and to communicate are allowed. Each operation has
 * its clause without a filter before all its clauses with a filter, because it is not known how
 * Seatbelt ranks the two kinds. */
static const char head[] =
    "(version 1)\n"
    "(deny default)\n"
    "(allow file-read*)\n"
    "(allow process*)\n"
    "(allow signal)\n"
    "(allow ipc-posix*)\n"
    "(allow mach*)\n"
    "(allow system-fsctl)\n"
    "(allow system-socket)\n"
    "(allow system-mac-syscall (mac-policy-name \"vnguard\"))\n"
    "(allow system-mac-syscall (require-all (mac-policy-name \"Sandbox\") (mac-syscall-number "
    "67)))\n"
    "(allow network*)\n"
    "(allow sysctl*)\n"
    "(allow iokit*)\n";

/* Places that are always writable. `/tmp` has no effect, because it is a link on macOS; it is
 * written because readers of a profile expect it. */
static const char *const scratch[] = {"/private/tmp", "/tmp", "/private/var/folders", "/dev"};

#define PUT(compiler, text) BS_PUT(&(compiler)->out, text)

static int out_of_memory(struct bs_error *err) {
    return bs_fail(err, BS_E_EXECUTION, 0, "out of memory for the text");
}

static int put_place(struct compiler *compiler, const char *field, const struct bs_bytes *place,
                     const char *below, struct bs_error *err) {
    PUT(compiler, "(allow file-write* ");
    const char *problem = bs_filter_put_place(place, below, &compiler->out);
    PUT(compiler, ")\n");
    char shown[400];
    if (problem == NULL)
        return BS_OK;
    return bs_fail(err, BS_E_INVALID, 0, "%s: `%s%s` %s", field,
                   bs_spell_for_people(place->data, place->len, shown, sizeof shown), below,
                   problem);
}

/* Write the clauses for a state directory of the provider. Its environment variable names the
 * directory. If the variable is not set, the directory lies in HOME, if HOME is set. */
static int put_state(struct compiler *compiler, const char *field, const struct bs_bytes *moved,
                     const char *below_home, struct bs_error *err) {
    const struct bs_bytes *home = &compiler->places.home;
    if (moved != NULL && moved->data != NULL)
        return put_place(compiler, field, moved, "", err);
    return home->data != NULL ? put_place(compiler, "env.HOME", home, below_home, err) : BS_OK;
}

static int put_writable(struct compiler *compiler, struct bs_error *err) {
    const struct bs_places *places = &compiler->places;
    for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++) {
        PUT(compiler, "(allow file-write* (subpath \"");
        bs_buf_str(&compiler->out, scratch[i]);
        PUT(compiler, "\"))\n");
    }
    int code = put_state(compiler, "env.HOME", NULL, "/Library/Caches", err);
    if (code == BS_OK)
        code = put_state(compiler, "env.HOME", NULL, "/.orbit", err);
    if (code == BS_OK)
        code = put_state(compiler, "env.CODEX_HOME", &places->codex_home, "/.codex", err);
    if (code == BS_OK)
        code = put_state(compiler, "env.CLAUDE_CONFIG_DIR", &places->claude_config_dir, "/.claude",
                         err);
    if (code == BS_OK)
        code = put_state(compiler, "env.HOME", NULL, "/.gemini", err);
    return code;
}

static int refuse_rule(const struct compiler *compiler, enum bs_op op, size_t index,
                       const char *problem, struct bs_error *err) {
    const struct bs_entry *entry = &compiler->both.lists[op].entries[index];
    char name[64];
    char shown[400];
    return bs_fail(err, BS_E_INVALID, 0, "%s: `%s` %s",
                   bs_body_name(&compiler->both, op, index, name, sizeof name),
                   bs_spell_for_people(entry->rule, entry->rule_len, shown, sizeof shown), problem);
}

/* Write the clauses of an exception for a path P. The exception itself permits nothing: first
 * everything inside P is denied, and then the profile's own rules are written again for P. */
static int put_exception(struct compiler *compiler, size_t index, struct bs_error *err) {
    const struct bs_bodies *modify = &compiler->both.lists[BS_OP_MODIFY];
    const struct bs_body *inside = &modify->items[index];
    struct bs_buf *out = &compiler->out;
    PUT(compiler, "(deny file-write* ");
    size_t start = out->len;
    const char *problem = bs_filter_put(&compiler->filters, inside, true, out);
    size_t len = out->len - start;
    PUT(compiler, ")\n");
    if (problem != NULL)
        return refuse_rule(compiler, BS_OP_MODIFY, index, problem, err);
    for (size_t i = 0; i < modify->n_own && out->len <= BS_SBPL_MOST_BYTES; i++) {
        bool deny = modify->entries[i].negated;
        bs_buf_str(out,
                   deny ? "(deny file-write* (require-all " : "(allow file-write* (require-all ");
        if (!bs_buf_reserve(out, len))
            return out_of_memory(err);
        bs_buf_add(out, out->data + start, len);
        bs_buf_char(out, ' ');
        /* The same filter was written earlier in the text, so it cannot be refused here. */
        (void)bs_filter_put(&compiler->filters, &modify->items[i], deny, out);
        PUT(compiler, "))\n");
    }
    return BS_OK;
}

#define HEAD(text)                                                                                 \
    { (text), sizeof(text) - 1 }

/* Starts of clauses. The first index is the operation, the second is true for a deny. */
static const struct {
    const char *text;
    size_t len;
} heads[2][2] = {
    [BS_OP_READ] = {HEAD("(allow file-read* "), HEAD("(deny file-read* ")},
    [BS_OP_MODIFY] = {HEAD("(allow file-write* "), HEAD("(deny file-write* ")},
};

static int put_rules(struct compiler *compiler, enum bs_op op, size_t from, struct bs_error *err) {
    const struct bs_bodies *bodies = &compiler->both.lists[op];
    struct bs_buf *out = &compiler->out;
    int code = BS_OK;
    for (size_t i = from; i < bodies->n && code == BS_OK && out->len <= BS_SBPL_MOST_BYTES; i++) {
        const struct bs_entry *entry = &bodies->entries[i];
        if (entry->origin == BS_ENTRY_EXCEPTION) {
            code = put_exception(compiler, i, err);
            continue;
        }
        bs_put(out, heads[op][entry->negated].text, heads[op][entry->negated].len);
        struct bs_body *body = &bodies->items[i];
        size_t start = out->len;
        const char *problem = bs_filter_put(&compiler->filters, body, entry->negated, out);
        if (entry->negated) {
            body->filter_at = start;
            body->filter_len = out->len - start;
        }
        PUT(compiler, ")\n");
        if (problem != NULL)
            code = refuse_rule(compiler, op, i, problem, err);
    }
    return code;
}

static int put_side_roots(struct compiler *compiler, struct bs_error *err) {
    const struct bs_places *places = &compiler->places;
    int code = BS_OK;
    if (compiler->input->provider != BS_PROVIDER_CODEX)
        return BS_OK;
    for (size_t i = 0; i < places->n_side_roots && code == BS_OK; i++) {
        char name[BS_SIDE_ROOT_NAME];
        code = put_place(compiler, bs_places_side_root(i, name), &places->side_roots[i], "", err);
    }
    return code;
}

static int put_unlink(struct compiler *compiler, struct bs_error *err) {
    size_t at = 0;
    const struct bs_bodies *read = &compiler->both.lists[BS_OP_READ];
    const char *problem = bs_unlink_put(&compiler->filters, read, &compiler->out, &at);
    return problem == NULL ? BS_OK : refuse_rule(compiler, BS_OP_READ, at, problem, err);
}

/* Deny writing to the root, before the rules allow paths in it. A place that is always writable may
 * contain the root, and must not make it writable. */
static int put_root(struct compiler *compiler, struct bs_error *err) {
    const struct bs_bytes *root = &compiler->places.root;
    char shown[400];
    PUT(compiler, "(deny file-write* ");
    const char *problem = bs_filter_put_place(root, "", &compiler->out);
    PUT(compiler, ")\n");
    if (problem == NULL)
        return BS_OK;
    return bs_fail(err, BS_E_INVALID, 0, "root: `%s` %s",
                   bs_spell_for_people(root->data, root->len, shown, sizeof shown), problem);
}

/* Reserve about as much memory as the text will need, so that growing rarely moves it. */
static void reserve(struct compiler *compiler) {
    enum { CLAUSE = 64, MOST = 1024 * 1024 };
    size_t about = sizeof head + 16 * CLAUSE;
    for (int op = BS_OP_READ; op <= BS_OP_MODIFY; op++) {
        const struct bs_bodies *bodies = &compiler->both.lists[op];
        for (size_t i = op == BS_OP_READ ? bodies->denied_from : 0; i < bodies->n; i++) {
            size_t clause = compiler->filters.regex.len + bodies->items[i].len + CLAUSE;
            about += op == BS_OP_READ ? clause * 2 : clause;
        }
    }
    (void)bs_buf_reserve(&compiler->out, about < MOST ? about : MOST);
}

static int put_text(struct compiler *compiler, struct bs_error *err) {
    reserve(compiler);
    PUT(compiler, head);
    int code = put_writable(compiler, err);
    if (code == BS_OK)
        code = put_root(compiler, err);
    if (code == BS_OK)
        code = put_rules(compiler, BS_OP_MODIFY, 0, err);
    if (code == BS_OK)
        code = put_rules(compiler, BS_OP_READ, compiler->both.lists[BS_OP_READ].denied_from, err);
    if (code == BS_OK)
        code = put_side_roots(compiler, err);
    if (code == BS_OK)
        code = put_unlink(compiler, err);
    if (code == BS_OK && compiler->out.failed)
        code = out_of_memory(err);
    if (code == BS_OK && compiler->out.len > BS_SBPL_MOST_BYTES)
        code = bs_fail(err, BS_E_INVALID, 0,
                       "rules: their text has more than %lu bytes; each exception repeats all "
                       "modify rules of the profile, so write fewer of both",
                       BS_SBPL_MOST_BYTES);
    return code;
}

static int list_unguarded(const struct bs_bodies *read, struct bs_sbpl *sbpl,
                          struct bs_error *err) {
    sbpl->unguarded = calloc(read->n - read->denied_from + 1, sizeof(const void *));
    if (sbpl->unguarded == NULL)
        return out_of_memory(err);
    for (size_t i = read->denied_from; i < read->n; i++) {
        const struct bs_body *body = &read->items[i];
        if (read->entries[i].negated && body->place == 0 && !bs_body_is_root(body))
            sbpl->unguarded[sbpl->n_unguarded++] = &read->entries[i];
    }
    return BS_OK;
}

/* Refuse control characters in every rule, also in a rule that becomes no clause, because users
 * cannot know which rules become clauses. */
static int refuse_controls(const struct compiler *compiler, struct bs_error *err) {
    for (int op = BS_OP_READ; op <= BS_OP_MODIFY; op++) {
        const struct bs_bodies *bodies = &compiler->both.lists[op];
        for (size_t i = 0; i < bodies->n; i++) {
            if ((bodies->items[i].look & BS_HAS_CONTROL) != 0)
                return refuse_rule(compiler, (enum bs_op)op, i,
                                   "holds a control character; rename the file or folder", err);
        }
    }
    return BS_OK;
}

static int open_all(struct compiler *compiler, struct bs_error *err) {
    bool folds = bs_profile_folds(compiler->input->profile);
    if (!bs_bodies_open(compiler->input->profile, &compiler->both))
        return out_of_memory(err);
    int code = refuse_controls(compiler, err);
    if (code != BS_OK)
        return code;
    code = bs_places_open(compiler->input, &compiler->both, &compiler->places, err);
    if (code != BS_OK)
        return code;
    if (folds)
        bs_unfold_open(&compiler->unfold);
    if (!bs_filters_open(&compiler->filters, &compiler->places.root,
                         folds ? &compiler->unfold : NULL))
        return out_of_memory(err);
    return BS_OK;
}

int bs_sbpl_compile(const struct bs_sbpl_input *input, struct bs_sbpl *sbpl, struct bs_error *err) {
    struct compiler compiler = {.input = input, .out = BS_BUF_INIT};
    struct bs_sbpl made = BS_SBPL_INIT;
    int code = open_all(&compiler, err);
    if (code == BS_OK)
        code = put_text(&compiler, err);
    if (code == BS_OK)
        code = list_unguarded(&compiler.both.lists[BS_OP_READ], &made, err);
    if (code == BS_OK) {
        made.text = bs_buf_take(&compiler.out);
        *sbpl = made;
    }
    bs_buf_clear(&compiler.out);
    bs_filters_close(&compiler.filters);
    bs_places_close(&compiler.places);
    bs_bodies_close(&compiler.both);
    return code;
}

void bs_sbpl_clear(struct bs_sbpl *sbpl) {
    bs_bytes_clear(&sbpl->text);
    free((void *)sbpl->unguarded);
    *sbpl = (struct bs_sbpl)BS_SBPL_INIT;
}
