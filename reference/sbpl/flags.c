#define _GNU_SOURCE
#include "sbpl/flags.h"

#include <stdbool.h>
#include <string.h>

bool bs_sbpl_provider(const char *name, enum bs_provider *provider) {
    static const char *const names[] = {[BS_PROVIDER_CODEX] = "codex",
                                        [BS_PROVIDER_CLAUDE] = "claude",
                                        [BS_PROVIDER_GEMINI] = "gemini"};
    for (int i = BS_PROVIDER_CODEX; i <= BS_PROVIDER_GEMINI; i++) {
        if (strcmp(name, names[i]) == 0) {
            *provider = (enum bs_provider)i;
            return true;
        }
    }
    return false;
}

/* The words of the command that are examined: the words after the program, up to `--`. */
struct words {
    const char *const *items;
    size_t n;
    size_t end;
    const char **out;
    size_t n_out;
};

static void keep(struct words *words, const char *word) { words->out[words->n_out++] = word; }

/* True if the word is the flag followed by `=` and a value. */
static bool has_value(const char *word, const char *flag) {
    size_t len = strlen(flag);
    return strncmp(word, flag, len) == 0 && word[len] == '=';
}

static bool is_either(const char *word, const char *a, const char *b) {
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/* If a sandbox mode stands at `at`, return the number of its words, otherwise 0. A mode never
 * begins with a dash. So if the value of the flag is missing, the next flag does not count as its
 * value. */
static size_t codex_mode(const struct words *words, size_t at) {
    const char *word = words->items[at];
    if (is_either(word, "--sandbox", "-s"))
        return at + 1 < words->end && words->items[at + 1][0] != '-' ? 2 : 1;
    bool joined = strncmp(word, "-s", 2) == 0; /* the forms -sMODE and -s=MODE */
    return joined || has_value(word, "--sandbox") ? 1 : 0;
}

/* As codex_mode, for other flags that set a mode. */
static size_t codex_other(const struct words *words, size_t at) {
    static const char key[] = "sandbox_mode";
    const char *word = words->items[at];
    if (strcmp(word, "--full-auto") == 0)
        return 1;
    if (has_value(word, "--config") && has_value(word + sizeof "--config=" - 1, key))
        return 1;
    if (is_either(word, "-c", "--config") && at + 1 < words->end &&
        has_value(words->items[at + 1], key))
        return 2;
    return 0;
}

static void put_codex_mode(struct words *words) {
    keep(words, "--sandbox");
    keep(words, "danger-full-access");
}

static void codex(struct words *words) {
    size_t at = 1;
    bool given = false;
    for (size_t i = at; i < words->end && !given;) {
        size_t other = codex_other(words, i);
        given = other == 0 && codex_mode(words, i) > 0;
        i += other > 0 ? other : 1;
    }
    if (at < words->end && is_either(words->items[at], "exec", "e"))
        keep(words, words->items[at++]);
    if (!given)
        put_codex_mode(words);
    while (at < words->end) {
        size_t mode = codex_mode(words, at);
        size_t gone = mode > 0 ? mode : codex_other(words, at);
        if (mode > 0 && given)
            put_codex_mode(words);
        given &= mode == 0;
        if (gone == 0)
            keep(words, words->items[at]);
        at += gone > 0 ? gone : 1;
    }
}

/* True if the word is a value of the flag. The flag may have no value, and then the next word may
 * be the prompt. */
static bool is_gemini_value(const char *word) {
    static const char *const values[] = {"true", "false", "docker", "podman", "sandbox-exec"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (strcmp(word, values[i]) == 0)
            return true;
    }
    return false;
}

static void gemini(struct words *words) {
    for (size_t at = 1; at < words->end; at++) {
        const char *word = words->items[at];
        if (has_value(word, "--sandbox") || has_value(word, "-s"))
            continue;
        if (!is_either(word, "--sandbox", "-s"))
            keep(words, word);
        else if (at + 1 < words->end && is_gemini_value(words->items[at + 1]))
            at++;
    }
}

size_t bs_flags_neutralize(enum bs_provider provider, const char *const *argv, size_t n,
                           const char **out) {
    struct words words = {argv, n, 1, out, 0};
    while (words.end < n && strcmp(argv[words.end], "--") != 0)
        words.end++;
    if (provider != BS_PROVIDER_CODEX && provider != BS_PROVIDER_GEMINI)
        words.end = 1;
    keep(&words, argv[0]);
    if (provider == BS_PROVIDER_CODEX)
        codex(&words);
    else if (provider == BS_PROVIDER_GEMINI)
        gemini(&words);
    for (size_t i = words.end; i < n; i++)
        keep(&words, argv[i]);
    return words.n_out;
}
