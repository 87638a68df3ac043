/* Generated profiles as Seatbelt text. The text can be read back, its strings are exactly the
 * paths, and it decides as the policy does. One of sixteen inputs has a place that must be refused,
 * and one of sixteen is a command to wrap. */
#include <stdlib.h>
#include <string.h>

#include <boxspec/sbpl.h>

#include "base/json_write.h"
#include "support/eval_case.h"
#include "support/fail.h"
#include "support/lie.h"
#include "support/path_model.h"
#include "support/sbpl_oracle.h"
#include "support/wrap_case.h"

const char bs_fuzz_target[] = "sbpl_emit";

/* Roots whose names have characters that are special in regular expressions, strings or other
 * clauses. */
static const char *const roots[] = {"/Users/u/project",
                                    "/work/project[1]*?.{a}(b)^$+|",
                                    "/q\"uote\\d \xC3\xA9",
                                    "/private/tmp/w",
                                    "/Users/u",
                                    "/",
                                    "/Users/u/.codex/w",
                                    "//doubled//and/trailing//"};
static const char *const homes[] = {NULL, "", "/Users/u", "/home/\"x\"", "/Users/u/"};
static const char *const states[] = {NULL, "", "/opt/state", "/Users/u/project/a"};
static const char *const sides[] = {"/opt/side", "/Users/u/project/a", "/Users/u/projects",
                                    "/Users/u/project/src/ab", "/"};

/* values of the first byte that select these cases */
enum { MISPLACES = 0xE0, WRAPS = 0xF0 };

#define PICK(from, table) (table)[bs_fuzz_below((from), sizeof(table) / sizeof *(table))]

struct input {
    struct bs_eval_case eval;
    struct bs_sbpl_input sbpl;
    const char *side_roots[2];
    char root[256];    /* in clean form */
    bool is_misplaced; /* one of the places must be refused */
};

static void clean(const char *path, char *out, size_t size) {
    size_t to = 0;
    for (const char *c = path; *c != '\0' && to + 2 < size; c++) {
        if (*c != '/' || (c[1] != '/' && c[1] != '\0'))
            out[to++] = *c;
    }
    if (to == 0)
        out[to++] = '/';
    out[to] = '\0';
}

/* longer than any string that Seatbelt reads */
#define TEN(text) text text text text text text text text text text
#define TOO_LONG TEN(TEN("/a-name-that"))

/* Choose a place that no profile may use, or a variable that would make the home directory
 * writable. */
static void misplace(struct input *input, struct bs_fuzz_provider *from) {
    static const char *const wrong[] = {
        "work",     "~",      "~/w",   "/a/../b", "/a/.",  "/..",     "/tmp",  "/tmp/w", "/var",
        "/var//w/", "/etc/w", "//etc", "/a\x01",  "/\x7F", "/\nroot", "/\xFF", TOO_LONG};
    struct bs_sbpl_input *sbpl = &input->sbpl;
    const char *place = PICK(from, wrong);
    switch (bs_fuzz_below(from, 9)) {
    case 0:
        sbpl->root = place;
        break;
    case 1:
        sbpl->home = place;
        break;
    case 2:
        sbpl->codex_home = place;
        break;
    case 3:
        sbpl->claude_config_dir = place;
        break;
    case 4:
        input->side_roots[0] = place;
        sbpl->n_side_roots = 1;
        /* Only a profile for Codex contains side roots, so only there does the long path have an
         * effect. */
        if (strcmp(place, TOO_LONG) == 0)
            sbpl->provider = BS_PROVIDER_CODEX;
        break;
    case 5:
        sbpl->home = "/Users/u";
        sbpl->codex_home = "/Users//u/";
        break;
    case 6:
        sbpl->home = "/";
        break;
    case 7:
        sbpl->home = NULL;
        sbpl->codex_home = "//";
        break;
    default:
        sbpl->home = "/Users/u";
        sbpl->claude_config_dir = "/Users";
    }
}

/* Decode the input. The other fields are drawn before the policy, so that short inputs have all of
 * them too. */
static void decode(struct input *input, const uint8_t *data, size_t size) {
    struct bs_fuzz_provider from = {data, size};
    struct bs_sbpl_input *sbpl = &input->sbpl;
    *sbpl = (struct bs_sbpl_input)BS_SBPL_INPUT_INIT;
    uint8_t first = bs_fuzz_byte(&from);
    sbpl->root = roots[first % (sizeof roots / sizeof *roots)];
    sbpl->home = PICK(&from, homes);
    sbpl->codex_home = PICK(&from, states);
    sbpl->claude_config_dir = PICK(&from, states);
    sbpl->provider = (enum bs_provider)bs_fuzz_below(&from, BS_PROVIDER_GEMINI + 1);
    sbpl->n_side_roots = bs_fuzz_below(&from, 4) == 3 ? 1 + bs_fuzz_below(&from, 2) : 0;
    for (size_t i = 0; i < sbpl->n_side_roots; i++)
        input->side_roots[i] = PICK(&from, sides);
    sbpl->side_roots = input->side_roots;
    input->is_misplaced = first >= MISPLACES;
    if (input->is_misplaced)
        misplace(input, &from);
    clean(sbpl->root, input->root, sizeof input->root);
    bs_eval_case_read(&input->eval, from.data, from.left);
}

static bool read_wrap(struct bs_wrap_case *wrap, const uint8_t *data, size_t size) {
    if (size == 0 || data[0] < WRAPS)
        return false;
    bs_wrap_case_read(wrap, (struct bs_fuzz_provider){data + 1, size - 1});
    return true;
}

static void put_env(struct bs_fuzz_case *c, const struct bs_sbpl_input *sbpl) {
    const struct {
        const char *name;
        const char *value;
    } variables[] = {{"HOME", sbpl->home},
                     {"CODEX_HOME", sbpl->codex_home},
                     {"CLAUDE_CONFIG_DIR", sbpl->claude_config_dir}};
    struct bs_buf json = BS_BUF_INIT;
    bs_buf_char(&json, '{');
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (variables[i].value == NULL)
            continue;
        if (json.len > 1)
            bs_buf_char(&json, ',');
        bs_json_quote(&json, variables[i].name, strlen(variables[i].name));
        bs_buf_char(&json, ':');
        bs_json_quote(&json, variables[i].value, strlen(variables[i].value));
    }
    bs_buf_char(&json, '}');
    bs_fuzz_case_json(c, "env", json.data, json.len);
    bs_buf_clear(&json);
}

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    static const char *const providers[] = {NULL, "codex", "claude", "gemini"};
    static struct input input;
    struct bs_policy_text texts[2] = {{NULL, 0, BS_POLICY_JSON}, {NULL, 0, BS_POLICY_JSON}};
    struct bs_wrap_case wrap;
    if (read_wrap(&wrap, data, size)) {
        bs_wrap_case_describe(c, &wrap);
        return;
    }
    decode(&input, data, size);
    bs_eval_case_write(&input.eval, &texts[0], &texts[1]);
    bs_fuzz_case_open(c, "sbpl.compile");
    bs_fuzz_case_policy(c, &texts[0], input.eval.workspace != NULL ? &texts[1] : NULL);
    if (input.eval.profile != NULL)
        bs_fuzz_case_word(c, "profile", input.eval.profile);
    bs_fuzz_case_text(c, "root", input.sbpl.root, strlen(input.sbpl.root));
    put_env(c, &input.sbpl);
    bs_fuzz_case_texts_open(c, "side_roots", true);
    for (size_t i = 0; i < input.sbpl.n_side_roots; i++)
        bs_fuzz_case_item(c, input.side_roots[i], strlen(input.side_roots[i]));
    bs_fuzz_case_texts_close(c);
    if (input.sbpl.provider != BS_PROVIDER_NONE)
        bs_fuzz_case_word(c, "provider", providers[input.sbpl.provider]);
    bs_fuzz_case_close(c);
    bs_fuzz_text_free(&texts[0]);
    bs_fuzz_text_free(&texts[1]);
    bs_eval_case_clear(&input.eval);
}

/* True if a rule may be refused because its string is longer than 1,000 bytes or has a control
 * character. A string can become so long if case does not matter, because marks above and below a
 * letter are then written in every possible order. */
static bool may_be_unsayable(const struct bs_fuzz_resolved *resolved, bool folds) {
    const struct bs_fuzz_list *const lists[] = {&resolved->read, &resolved->modify};
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < lists[l]->n; i++) {
            const struct bs_fuzz_rule *rule = lists[l]->entries[i].rule;
            size_t questions = 0;
            bool controls = false;
            bool marks = false;
            for (size_t k = 0; k < rule->len; k++) {
                unsigned char c = (unsigned char)rule->body[k];
                questions += c == '?';
                controls = controls || c < 0x20 || c == 0x7F;
                marks = marks || c == 0xCC || c == 0xCD;
            }
            if (controls || (folds && marks) ||
                rule->len * (folds ? 16 : 5) + questions * (folds ? 100 : 50) > 900)
                return true;
        }
    }
    return false;
}

/* True if a side root overlaps a place that must not be read, which the reference must refuse.
 * `sides` has only the side roots that the profile allows; others may be anywhere. */
static bool is_refusal_due(const struct bs_fuzz_sbpl *sbpl) {
    bool due = false;
    for (size_t i = 0; i < sbpl->n_sides; i++)
        due = due || bs_fuzz_sbpl_meets_denied(sbpl, sbpl->sides[i]);
    return due;
}

static void check_refusal(const struct input *input, const struct bs_fuzz_sbpl *sbpl, int code,
                          const struct bs_sbpl *made, const struct bs_error *err) {
    bool due = input->is_misplaced || is_refusal_due(sbpl);
    /* If case does not matter, this target does not know which paths are equal, so it accepts both
     * results. */
    bool is_open =
        !input->is_misplaced && ((sbpl->folds && input->sbpl.n_side_roots > 0) ||
                                 (code != BS_OK && may_be_unsayable(sbpl->resolved, sbpl->folds)));
    if ((!is_open && (code != BS_OK) != due) || bs_fuzz_lie("refusal"))
        bs_fuzz_fail("refusal", "%s", code != BS_OK ? err->message : "made, and should be refused");
    if (code != BS_OK && (made->text.data != NULL || err->message[0] == '\0' ||
                          code != BS_E_INVALID || bs_fuzz_lie("untouched")))
        bs_fuzz_fail("untouched", "code %d, message `%s`", code, err->message);
}

static void check_again(const struct bs_sbpl_input *input, const struct bs_sbpl *made) {
    struct bs_sbpl second = BS_SBPL_INIT;
    struct bs_error err = BS_ERROR_INIT;
    bool same = bs_sbpl_compile(input, &second, &err) == BS_OK &&
                second.text.len == made->text.len &&
                memcmp(second.text.data, made->text.data, made->text.len) == 0;
    if (!same || bs_fuzz_lie("again"))
        bs_fuzz_fail("again", "made again it is another text");
    bs_sbpl_clear(&second);
}

/* Check one operation on one path under both readings. */
static void check_op(const struct bs_seatbelt *profile, const char *op, const char *path,
                     bool expected, bool only_denies) {
    size_t len = strlen(path);
    bool allowed = bs_seatbelt_allows(profile, BS_SEAT_LAST_CLAUSE, op, path, len);
    bool other = bs_seatbelt_allows(profile, BS_SEAT_MOST_SPECIFIC, op, path, len);
    if (allowed != other || bs_fuzz_lie("precedence"))
        bs_fuzz_fail("precedence", "%s of `%s` depends on how precedence is read", op, path);
    bool wrong = allowed != expected && !(only_denies && expected);
    if (wrong || bs_fuzz_lie("decision"))
        bs_fuzz_fail("decision", "%s of `%s` is %s, and the policy says otherwise", op, path,
                     allowed ? "allowed" : "denied");
}

static void check_path(const struct bs_fuzz_sbpl *sbpl, const struct bs_seatbelt *profile,
                       struct bs_fuzz_text path) {
    static const char *const writes[] = {"file-write-create", "file-write-data", "file-write-mode"};
    static const char *const reads[] = {"file-read-data", "file-read-metadata"};
    struct bs_fuzz_sbpl_answer answer = bs_fuzz_sbpl_decide(sbpl, path);
    const char *absolute = bs_fuzz_sbpl_absolute(sbpl, path);
    if (answer.is_open)
        return;
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
        check_op(profile, writes[i], absolute, answer.writes, answer.only_denies);
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++)
        check_op(profile, reads[i], absolute, answer.reads, answer.only_denies);
    check_op(profile, "file-write-unlink", absolute, answer.unlinks, answer.only_denies);
}

/* Check that outside the root only places for temporary files are writable. */
static void check_outside(const struct bs_fuzz_sbpl *sbpl, const struct bs_seatbelt *profile) {
    static const struct {
        const char *path;
        bool writes;
    } places[] = {{"/private/tmp/x", true}, {"/private/tmpfile", false}, {"/dev/null", true},
                  {"/opt/nothing", false},  {"/Users/u/.ssh", false},    {"/Users", false}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        bool is_outside = !bs_fuzz_is_within(places[i].path, sbpl->root);
        for (size_t k = 0; k < sbpl->n_sides; k++)
            is_outside = is_outside && !bs_fuzz_is_within(places[i].path, sbpl->sides[k]);
        if (!is_outside)
            continue;
        check_op(profile, "file-write-data", places[i].path, places[i].writes, false);
        check_op(profile, "file-read-data", places[i].path, true, false);
    }
}

static void check_text(struct input *input, const struct bs_fuzz_sbpl *sbpl,
                       const struct bs_bytes *text) {
    struct bs_seatbelt profile;
    bool good = bs_seatbelt_read(text->data, text->len, sbpl->pool, &profile);
    if (!good || bs_fuzz_lie("form"))
        bs_fuzz_fail("form", "line %zu does not read back: %s\n%.*s", profile.line, profile.why,
                     (int)text->len, text->data);
    const char *why = bs_fuzz_sbpl_clauses(sbpl, &profile);
    if (why != NULL || bs_fuzz_lie("clauses"))
        bs_fuzz_fail("clauses", "%s\n%.*s", why, (int)text->len, text->data);
    for (size_t i = 0; i < input->eval.n_paths; i++) {
        struct bs_fuzz_text path = input->eval.paths[i];
        char *normal = bs_fuzz_take(sbpl->pool, path.len + 1);
        size_t len = 0;
        if (bs_model_path(path.text, path.len, normal, &len) == NULL)
            check_path(sbpl, &profile, (struct bs_fuzz_text){normal, len});
    }
    check_path(sbpl, &profile, (struct bs_fuzz_text){".", 1});
    check_outside(sbpl, &profile);
    bs_seatbelt_clear(&profile);
}

static void check_profile(struct input *input, struct bs_profile *profile,
                          const struct bs_fuzz_resolved *resolved, bool folds) {
    struct bs_fuzz_sbpl sbpl = {.resolved = resolved,
                                .root = input->root,
                                .folds = folds,
                                .sides = input->side_roots,
                                .pool = &input->eval.pool};
    struct bs_sbpl made = BS_SBPL_INIT;
    struct bs_error err = BS_ERROR_INIT;
    if (input->sbpl.provider == BS_PROVIDER_CODEX)
        sbpl.n_sides = input->sbpl.n_side_roots;
    input->sbpl.profile = profile;
    int code = bs_sbpl_compile(&input->sbpl, &made, &err);
    check_refusal(input, &sbpl, code, &made, &err);
    if (code == BS_OK) {
        check_again(&input->sbpl, &made);
        check_text(input, &sbpl, &made.text);
    }
    bs_sbpl_clear(&made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct input input;
    struct bs_policy_text texts[2] = {{NULL, 0, BS_POLICY_JSON}, {NULL, 0, BS_POLICY_JSON}};
    struct bs_fuzz_load load;
    struct bs_fuzz_verdict verdict;
    struct bs_fuzz_resolved resolved;
    struct bs_wrap_case wrap;
    bs_fuzz_begin(data, size);
    if (read_wrap(&wrap, data, size)) {
        bs_wrap_case_judge(&wrap);
        return 0;
    }
    decode(&input, data, size);
    bs_eval_case_write(&input.eval, &texts[0], &texts[1]);
    bs_fuzz_load_written(&texts[0], input.eval.workspace != NULL ? &texts[1] : NULL,
                         &input.eval.pool, &load, &verdict);
    bool folds = input.eval.law % 4 == 3;
    struct bs_profile *profile = NULL;
    if (load.code == BS_OK &&
        bs_fuzz_resolve(&verdict.policy, input.eval.profile, &input.eval.pool, &resolved) &&
        bs_profile_compile(load.policy, input.eval.profile, folds ? BS_FOLD : 0, &profile, NULL) ==
            BS_OK)
        check_profile(&input, profile, &resolved, folds);
    bs_profile_free(profile);
    bs_fuzz_load_clear(&load);
    bs_fuzz_text_free(&texts[0]);
    bs_fuzz_text_free(&texts[1]);
    bs_eval_case_clear(&input.eval);
    return 0;
}
