#include "support/wrap_case.h"

#include <string.h>
#include <unistd.h>

#include "support/fail.h"
#include "support/lie.h"

/* The action of the wrapper for a piece of the command: keep it, remove it, or take the mode from
 * it. */
enum fate { STAYS, GOES, FIRST_GOES, IS_MODE, FIRST_IS_MODE };

struct piece {
    const char *words[2];
    enum fate fate;
};

static const struct piece common[] = {
    {{"-p", "hi"}, STAYS},  {{""}, STAYS},
    {{"a b\t\"'$"}, STAYS}, {{"\xFF\x80"}, STAYS},
    {{"exec"}, STAYS},      {{"e"}, STAYS},
    {{"-f"}, STAYS},        {{"-"}, STAYS},
    {{"---"}, STAYS},       {{"--sandboxes=x"}, STAYS},
    {{"--sandbo"}, STAYS},  {{"sandbox_mode=x"}, STAYS},
    {{"--"}, STAYS},
};

static const struct piece of_codex[] = {
    {{"--sandbox", "read-only"}, IS_MODE},
    {{"--sandbox=workspace-write"}, IS_MODE},
    {{"-s", "danger-full-access"}, IS_MODE},
    {{"-s=read-only"}, IS_MODE},
    {{"-sread-only"}, IS_MODE},
    {{"--sandbox", "exec"}, IS_MODE},
    {{"-c", "sandbox_mode=x"}, GOES},
    {{"--config", "sandbox_mode="}, GOES},
    {{"--config=sandbox_mode=\"x\""}, GOES},
    {{"--full-auto"}, GOES},
    {{"--sandbox", "-p"}, FIRST_IS_MODE},
    {{"-c", "sandbox_modes=x"}, STAYS},
    {{"--config", "model=sandbox_mode=x"}, STAYS},
    {{"--config=sandbox_mod=x"}, STAYS},
    {{"--full-automatic"}, STAYS},
    {{"-c", "sandbox_mode"}, STAYS},
};

static const struct piece of_gemini[] = {
    {{"--sandbox"}, GOES},
    {{"-s"}, GOES},
    {{"--sandbox=x"}, GOES},
    {{"-s="}, GOES},
    {{"--sandbox", "true"}, GOES},
    {{"-s", "false"}, GOES},
    {{"--sandbox", "docker"}, GOES},
    {{"-s", "podman"}, GOES},
    {{"--sandbox", "sandbox-exec"}, GOES},
    {{"-s", "dockers"}, FIRST_GOES},
    {{"--sandbox", "True"}, FIRST_GOES},
    {{"-sx"}, STAYS},
    {{"--full-auto"}, STAYS},
};

#define LENGTH(table) (sizeof(table) / sizeof *(table))

static struct piece draw_piece(struct bs_fuzz_provider *from, enum bs_provider provider) {
    uint8_t number = bs_fuzz_byte(from);
    const struct piece *piece = &common[number / 2 % LENGTH(common)];
    if (number % 2 == 1 && provider == BS_PROVIDER_GEMINI)
        piece = &of_gemini[number / 2 % LENGTH(of_gemini)];
    else if (number % 2 == 1)
        piece = &of_codex[number / 2 % LENGTH(of_codex)];
    return *piece;
}

struct words {
    const char **at;
};

static void put_words(struct words *words, const char *word) {
    if (word != NULL)
        *words->at++ = word;
}

static void put_piece(struct words *words, const struct piece *piece, enum fate fate,
                      bool *has_mode) {
    bool is_mode = fate == IS_MODE || fate == FIRST_IS_MODE;
    if (is_mode && !*has_mode) {
        put_words(words, "--sandbox");
        put_words(words, "danger-full-access");
    }
    *has_mode = *has_mode || is_mode;
    if (fate == STAYS)
        put_words(words, piece->words[0]);
    if (fate == STAYS || fate == FIRST_GOES || fate == FIRST_IS_MODE)
        put_words(words, piece->words[1]);
}

/* Flags without a value, which is possible only at the end of the command. */
static const struct piece lasts[] = {{{"--sandbox"}, IS_MODE}, {{"-s"}, IS_MODE}, {{"-c"}, STAYS}};

/* Draw pieces until one of them ends the command or there is no more room. Each piece has at most
 * two words. */
static size_t draw_pieces(struct bs_fuzz_provider *from, enum bs_provider provider,
                          struct piece pieces[BS_WRAP_MOST_WORDS / 2]) {
    size_t n = bs_fuzz_below(from, BS_WRAP_MOST_WORDS / 2);
    for (size_t i = 0; i < n; i++)
        pieces[i] = draw_piece(from, provider);
    uint32_t last = provider == BS_PROVIDER_CODEX ? bs_fuzz_below(from, 8) : 0;
    if (last > 0 && last <= LENGTH(lasts))
        pieces[n++] = lasts[last - 1];
    return n;
}

static void expect(struct bs_wrap_case *input, const struct piece *pieces, size_t n) {
    enum bs_provider provider = input->command.provider;
    struct words words = {input->expected};
    bool is_changed = provider == BS_PROVIDER_CODEX || provider == BS_PROVIDER_GEMINI;
    bool has_mode = provider != BS_PROVIDER_CODEX;
    bool looked_at = is_changed;
    size_t from = 0;
    for (size_t i = 0; i < n && strcmp(pieces[i].words[0], "--") != 0; i++)
        has_mode = has_mode || pieces[i].fate == IS_MODE || pieces[i].fate == FIRST_IS_MODE;
    put_words(&words, input->argv[0]);
    if (!has_mode) {
        bool leads = n > 0 && (strcmp(pieces[0].words[0], "exec") == 0 ||
                               strcmp(pieces[0].words[0], "e") == 0);
        if (leads)
            put_words(&words, pieces[from++].words[0]);
        put_words(&words, "--sandbox");
        put_words(&words, "danger-full-access");
    }
    bool given = false;
    for (; from < n; from++) {
        looked_at = looked_at && strcmp(pieces[from].words[0], "--") != 0;
        put_piece(&words, &pieces[from], looked_at ? pieces[from].fate : STAYS, &given);
    }
}

void bs_wrap_case_read(struct bs_wrap_case *input, struct bs_fuzz_provider from) {
    static const char *const programs[] = {"codex", "gemini", "/usr/bin/env", "--sandbox",
                                           "-s",    "exec",   "--",           ""};
    static const char *const files[] = {"/private/tmp/p.sb", "/", "p.sb", ""};
    struct piece pieces[BS_WRAP_MOST_WORDS / 2];
    *input = (struct bs_wrap_case){.command = {.argv = input->argv}};
    struct bs_sbpl_command *command = &input->command;
    command->provider = (enum bs_provider)bs_fuzz_below(&from, BS_PROVIDER_GEMINI + 1);
    uint32_t how = bs_fuzz_byte(&from);
    command->allow_fallback = (how & 1) != 0;
    command->wrapper = (enum bs_sbpl_wrapper)(how / 2 % 4);
    if (how / 2 % 4 == 3)
        command->wrapper = BS_WRAPPER_PRESENT;
    command->file = files[how / 8 % 16 == 15 ? 2 + how / 128 : how / 8 % 2];
    uint32_t program = bs_fuzz_byte(&from);
    size_t n = draw_pieces(&from, command->provider, pieces);
    struct words words = {input->argv};
    if (program == 255)
        return;
    put_words(&words, programs[program % LENGTH(programs)]);
    for (size_t i = 0; i < n; i++) {
        put_words(&words, pieces[i].words[0]);
        put_words(&words, pieces[i].words[1]);
    }
    expect(input, pieces, n);
}

void bs_wrap_case_describe(struct bs_fuzz_case *c, const struct bs_wrap_case *input) {
    static const char *const providers[] = {NULL, "codex", "claude", "gemini"};
    static const char *const wrappers[] = {NULL, "present", "missing"};
    const struct bs_sbpl_command *command = &input->command;
    bool text = true;
    for (size_t i = 0; input->argv[i] != NULL; i++)
        text = text && bs_fuzz_is_text(input->argv[i], strlen(input->argv[i]));
    bs_fuzz_case_open(c, "sbpl.wrap");
    bs_fuzz_case_texts_open(c, "argv", text);
    for (size_t i = 0; input->argv[i] != NULL; i++)
        bs_fuzz_case_item(c, input->argv[i], strlen(input->argv[i]));
    bs_fuzz_case_texts_close(c);
    if (command->provider != BS_PROVIDER_NONE)
        bs_fuzz_case_word(c, "provider", providers[command->provider]);
    if (command->allow_fallback)
        bs_fuzz_case_json(c, "allow_fallback", "true", strlen("true"));
    bs_fuzz_case_text(c, "file", command->file, strlen(command->file));
    if (command->wrapper != BS_WRAPPER_LOOK)
        bs_fuzz_case_word(c, "wrapper", wrappers[command->wrapper]);
    bs_fuzz_case_close(c);
}

static bool is_same(char *const *words, const char *const *expected) {
    size_t i = 0;
    while (words[i] != NULL && expected[i] != NULL && strcmp(words[i], expected[i]) == 0)
        i++;
    return words[i] == NULL && expected[i] == NULL;
}

static bool is_wrapped(const struct bs_wrap_case *input, char *const *words) {
    return words[0] != NULL && strcmp(words[0], "/usr/bin/sandbox-exec") == 0 && words[1] != NULL &&
           strcmp(words[1], "-f") == 0 && words[2] != NULL &&
           strcmp(words[2], input->command.file) == 0 && is_same(words + 3, input->expected);
}

static void check_words(void) {
    static const struct {
        const char *word;
        enum bs_provider provider;
        bool known;
    } words[] = {{"codex", BS_PROVIDER_CODEX, true},   {"claude", BS_PROVIDER_CLAUDE, true},
                 {"gemini", BS_PROVIDER_GEMINI, true}, {"Codex", BS_PROVIDER_NONE, false},
                 {"", BS_PROVIDER_NONE, false},        {"codex ", BS_PROVIDER_NONE, false}};
    for (size_t i = 0; i < LENGTH(words); i++) {
        enum bs_provider provider = BS_PROVIDER_NONE;
        if (bs_sbpl_provider(words[i].word, &provider) != words[i].known ||
            provider != words[i].provider)
            bs_fuzz_fail("wrap", "the provider `%s` is read otherwise", words[i].word);
    }
}

void bs_wrap_case_judge(const struct bs_wrap_case *input) {
    const struct bs_sbpl_command *command = &input->command;
    char untouched[] = "";
    struct bs_sbpl_wrapped made = {NULL, false, untouched};
    struct bs_error err = BS_ERROR_INIT;
    bool present = command->wrapper == BS_WRAPPER_PRESENT ||
                   (command->wrapper == BS_WRAPPER_LOOK && access(BS_SBPL_WRAPPER, X_OK) == 0);
    bool wrong = input->argv[0] == NULL || input->argv[0][0] == '\0' || command->file[0] != '/';
    wrong = wrong || (present && input->argv[0][0] == '-');
    bool missing = !present && !command->allow_fallback;
    check_words();
    int code = bs_sbpl_wrap(command, &made, &err);
    if ((code != BS_OK) != (wrong || missing) || bs_fuzz_lie("wrap"))
        bs_fuzz_fail("wrap", "%s", code != BS_OK ? err.message : "made, and should be refused");
    if (code != BS_OK) {
        bool kind = (code == BS_E_INVALID && wrong) ||
                    (code == BS_E_EXECUTION && missing && strstr(err.message, BS_SBPL_WRAPPER));
        if (!kind || err.message[0] == '\0' || made.warning != untouched)
            bs_fuzz_fail("wrap", "refused by code %d, `%s`, or what it wrote", code, err.message);
        return;
    }
    if (made.active != present || (made.warning == NULL) != present)
        bs_fuzz_fail("wrap", "%s the sandbox, and the wrapper is %s",
                     made.active ? "within" : "without", present ? "there" : "not there");
    if (!(present ? is_wrapped(input, made.argv) : is_same(made.argv, input->argv)))
        bs_fuzz_fail("wrap", "a word of the command is another one, missing or too much");
    bs_sbpl_wrapped_clear(&made);
    bs_sbpl_wrapped_clear(&made);
}
