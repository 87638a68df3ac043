"""Faults of kinds that occur in any reader of flags, by the table of the contracts."""

import sbpl.flags as flags
from faults.registry import fault, replaces
from faults.sbpl.flag import takes


def value_as(change):
    @replaces(flags)
    def gemini_flag(original, words, i):
        following = [change(word) for word in words[i + 1 : i + 2]]
        return original([*words[: i + 1], *following], i)

    flags.NEUTRAL["gemini"] = flags.gemini


@fault("SBPL-FLAG-06", "a value of gemini's flag is compared by its beginning", "startswith")
def values_by_their_beginning():
    value_as(lambda word: word[:4] if word.startswith(b"true") else word)


@fault("SBPL-FLAG-06", "flags are compared without case", "flags of Windows")
def flags_without_case():
    @replaces(flags)
    def neutral(original, argv, provider):
        known = (b"--sandbox", b"--full-auto")
        return original([w.lower() if w.lower() in known else w for w in argv], provider)


@fault("SBPL-FLAG-06", "blanks before a flag of codex do not count", "trimmed words")
def flags_are_trimmed():
    @replaces(flags)
    def codex_mode(original, words, i):
        return original([*words[:i], words[i].strip(), *words[i + 1 :]], i)


@fault("SBPL-FLAG-06", "exec is compared without case", "EXEC is exec")
def exec_without_case():
    @replaces(flags)
    def codex_place(original, words):
        return original([word.lower() for word in words])


@fault("SBPL-FLAG-06", "exec is compared by its beginning", "abbreviations of the command")
def exec_by_its_beginning():
    @replaces(flags)
    def codex_place(original, words):
        return 2 if words[1:2] and b"exec".startswith(words[1]) else original(words)


@fault("SBPL-FLAG-04", "three dashes end the flags of the provider", "startswith for ==")
def more_dashes_end_the_flags():
    @replaces(flags)
    def split(original, argv):
        plain = [
            b"--" if i and word and not word.strip(b"-") else word for i, word in enumerate(argv)
        ]
        ours, _ = original(plain)
        return argv[: len(ours)], argv[len(ours) :]


def setting_as(change):
    @replaces(flags)
    def codex_setting(original, words, i):
        name, equals, value = words[i].partition(b"=")
        word = name + equals + change(value) if name == b"--config" else words[i]
        following = [change(each) for each in words[i + 1 : i + 2]]
        return original([*words[:i], word, *following], i)


@fault("SBPL-FLAG-06", "blanks around a setting of codex do not count", "trimmed values")
def settings_are_trimmed():
    setting_as(bytes.strip)


@fault(
    "SBPL-FLAG-06", "`--no-sandbox` is removed from a command of gemini", "a flag about a sandbox"
)
def no_sandbox_is_removed():
    takes("gemini_flag", b"--no-sandbox", 1)


@fault("SBPL-FLAG-06", "a setting without a value is removed", "an index out of range is caught")
def a_setting_without_a_value_is_removed():
    @replaces(flags)
    def codex_setting(original, words, i):
        is_last = words[i] in flags.CODEX_SETTINGS and i + 1 == len(words)
        return 1 if is_last else original(words, i)


@fault("SBPL-FLAG-04", "a flag of codex with an empty value stays", "a value is required")
def an_empty_mode_stays():
    takes("codex_mode", b"--sandbox=", 0)


@fault("SBPL-FLAG-06", "`--yolo` is removed from a command of codex", "a flag about a sandbox")
def yolo_is_removed():
    takes("codex_setting", b"--yolo", 1)
