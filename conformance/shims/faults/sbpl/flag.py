"""Faults about the providers' own sandbox flags."""

import sbpl.flags as flags
from faults.registry import fault, replaces

FULL = [b"--sandbox", flags.CODEX_MODE]


def neutralised(provider, change):
    """Change the result of removing flags, for the words before `--`."""
    right = flags.NEUTRAL.get(provider, lambda words: words)
    flags.NEUTRAL[provider] = lambda words: change(words, right(words))


def takes(name, word, count):
    """Let the function with this name remove `count` words at this word; 0 if the word stays."""

    @replaces(flags, name)
    def taken(original, words, i):
        return count if words[i] == word else original(words, i)


@fault("SBPL-FLAG-01", "a codex command without a mode gets none", "replaced, never added")
def codex_mode_is_not_added():
    def change(words, right):
        is_asked = any(flags.codex_mode(words, i) for i in range(1, len(words)))
        if is_asked:
            return right
        return [word for word in right if word not in FULL]

    neutralised("codex", change)


@fault("SBPL-FLAG-01", "--full-auto stays", "no sandbox in its name")
def full_auto_stays():
    setting_stays(lambda word: word == b"--full-auto")


@fault("SBPL-FLAG-01", "a sandbox mode given by -c stays", "flags only")
def setting_of_a_mode_stays():
    setting_stays(lambda word: word != b"--full-auto")


def setting_stays(is_meant):
    @replaces(flags)
    def codex_setting(original, words, i):
        return 0 if is_meant(words[i]) else original(words, i)


@fault("SBPL-FLAG-01", "the mode is workspace-write", "the next best")
def another_mode():
    flags.CODEX_MODE = b"workspace-write"


@fault("SBPL-FLAG-01", "the flag is appended after the last argument", "append")
def mode_is_appended():
    @replaces(flags)
    def codex_place(original, words):
        return len(words)


@fault("SBPL-FLAG-02", "-s of gemini stays", "only the long form")
def short_flag_of_gemini_stays():
    flags.GEMINI_FLAGS = (b"--sandbox",)


@fault("SBPL-FLAG-02", "--sandbox of gemini stays", "only the short form")
def long_flag_of_gemini_stays():
    flags.GEMINI_FLAGS = (b"-s",)


@fault("SBPL-FLAG-03", "claude gets the flag that skips permissions", "as for the others")
def claude_gets_a_flag():
    neutralised("claude", lambda words, right: [*words[:1], b"--dangerously-skip", *words[1:]])


@fault(
    "SBPL-FLAG-03", "flags are removed from commands of every provider", "the provider not asked"
)
def every_command_loses_flags():
    @replaces(flags)
    def neutral(original, argv, provider):
        return original(argv, "gemini" if provider in (None, "claude") else provider)


@fault("SBPL-FLAG-04", "`--sandbox=VALUE` of codex stays", "words compared whole")
def joined_value_of_codex_stays():
    @replaces(flags)
    def codex_mode(original, words, i):
        return 0 if b"=" in words[i] else original(words, i)


@fault("SBPL-FLAG-04", "`--sandbox=VALUE` of gemini stays", "words compared whole")
def joined_value_of_gemini_stays():
    @replaces(flags)
    def gemini_flag(original, words, i):
        return 0 if b"=" in words[i] else original(words, i)


@fault("SBPL-FLAG-04", "the value of codex' flag stays", "one word taken")
def value_of_codex_stays():
    @replaces(flags)
    def codex_mode(original, words, i):
        return min(1, original(words, i))


@fault("SBPL-FLAG-04", "the value of gemini's flag stays", "one word taken")
def value_of_gemini_stays():
    @replaces(flags)
    def gemini_flag(original, words, i):
        return min(1, original(words, i))


@fault("SBPL-FLAG-04", "only the first of two flags is removed", "replaced once")
def second_flag_stays():
    @replaces(flags)
    def codex_mode(original, words, i):
        before = sum(original(words, j) > 0 for j in range(1, i))
        return 0 if before else original(words, i)


@fault("SBPL-FLAG-05", "words after `--` count as flags of codex", "all words checked")
def codex_looks_behind_the_dashes():
    behind("codex")


@fault("SBPL-FLAG-05", "words after `--` count as flags of gemini", "all words checked")
def gemini_looks_behind_the_dashes():
    behind("gemini")


def behind(meant):
    @replaces(flags)
    def neutral(original, argv, provider):
        if provider != meant:
            return original(argv, provider)
        return flags.NEUTRAL[provider](argv)


@fault("SBPL-FLAG-06", "flags that begin with --sandbox are removed too", "a prefix")
def longer_flags_are_taken():
    @replaces(flags)
    def gemini_flag(original, words, i):
        return original(words, i) or int(words[i].startswith(b"--sandbox"))


@fault("SBPL-FLAG-06", "every -c of codex is removed", "the value not looked at")
def every_setting_is_gone():
    @replaces(flags)
    def codex_setting(original, words, i):
        is_setting = words[i] in flags.CODEX_SETTINGS and i + 1 < len(words)
        return 2 if is_setting else original(words, i)


@fault(
    "SBPL-FLAG-06",
    "the word after gemini's flag is always removed as its value",
    "a flag with a value",
)
def any_word_is_a_value():
    @replaces(flags)
    def gemini_flag(original, words, i):
        found = original(words, i)
        is_last = i + 1 >= len(words)
        return 2 if words[i] in flags.GEMINI_FLAGS and not is_last else found


@fault("SBPL-FLAG-06", "the flags are moved to the front", "sorted")
def flags_come_first():
    def change(words, right):
        return right[:1] + sorted(right[1:], key=lambda word: word[:1] != b"-")

    neutralised("codex", change)


@fault(
    "SBPL-FLAG-06",
    "a program named exec is taken for codex's subcommand exec",
    "all words looked at",
)
def program_is_looked_at():
    def change(words, right):
        if words[0] not in flags.CODEX_RUNS:
            return right
        return [words[0], *FULL, *(word for word in right[1:] if word not in FULL)]

    neutralised("codex", change)


@fault("SBPL-FLAG-07", "a flag without its value removes the next flag too", "a flag with a value")
def missing_mode_takes_a_flag():
    @replaces(flags)
    def codex_mode(original, words, i):
        is_last = i + 1 >= len(words)
        return 2 if words[i] in flags.CODEX_MODES and not is_last else original(words, i)


@fault("SBPL-FLAG-07", "a flag without a value at the end stays", "no word after it")
def flag_at_the_end_stays():
    @replaces(flags)
    def codex_mode(original, words, i):
        is_last = i + 1 == len(words)
        return 0 if is_last and words[i] in flags.CODEX_MODES else original(words, i)


@fault("SBPL-FLAG-07", "a single dash is removed as the value of a flag", "a flag has a letter")
def dash_is_a_mode():
    @replaces(flags)
    def codex_mode(original, words, i):
        is_dash = words[i] in flags.CODEX_MODES and words[i + 1 : i + 2] == [b"-"]
        return 2 if is_dash else original(words, i)


@fault(
    "SBPL-FLAG-06", "the word after `--sandbox=VALUE` is removed too", "one check for both forms"
)
def word_behind_a_value_is_taken():
    @replaces(flags)
    def gemini_flag(original, words, i):
        found = original(words, i)
        is_value = b"=" in words[i] and words[i + 1 : i + 2] and words[i + 1] in flags.GEMINI_VALUES
        return 2 if found and is_value else found


@fault("SBPL-FLAG-06", "all values after gemini's flag are removed", "while for if")
def all_values_are_taken():
    @replaces(flags)
    def gemini_flag(original, words, i):
        found = original(words, i)
        while found > 1 and i + found < len(words) and words[i + found] in flags.GEMINI_VALUES:
            found += 1
        return found


@fault("SBPL-FLAG-01", "the mode is put where --full-auto stood", "replaced in its place")
def mode_stands_for_full_auto():
    takes("codex_mode", b"--full-auto", 1)


@fault("SBPL-FLAG-05", "flags end at the last `--`, not the first", "searched from the end")
def last_dashes_count():
    @replaces(flags)
    def split(original, argv):
        if b"--" not in argv[1:]:
            return original(argv)
        end = len(argv) - 1 - argv[::-1].index(b"--")
        return argv[:end], argv[end:]


def words_of_codex(change):
    neutralised("codex", lambda words, right: change(right))


@fault("SBPL-FLAG-06", "words of codex that are not UTF-8 are replaced", "flags looked for in text")
def flags_are_text():
    words_of_codex(lambda words: [word.decode(errors="replace").encode() for word in words])


@fault("SBPL-FLAG-01", "a sandbox mode in quotes stays", "a list of known modes")
def quoted_modes_stay():
    @replaces(flags)
    def codex_setting(original, words, i):
        quoted = any(b'"' in word or b"'" in word for word in words[i : i + 2])
        return 0 if quoted and words[i] != b"--full-auto" else original(words, i)
