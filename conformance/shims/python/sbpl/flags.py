"""Remove the providers' own sandbox flags from a command.

Only one sandbox should decide about files.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Words = list[bytes]

CODEX_MODE = b"danger-full-access"
CODEX_RUNS = (b"exec", b"e")
CODEX_MODES = (b"--sandbox", b"-s")
CODEX_SETTINGS = (b"-c", b"--config")
CODEX_SETTING = b"sandbox_mode="
GEMINI_FLAGS = (b"--sandbox", b"-s")
GEMINI_VALUES = (b"true", b"false", b"docker", b"podman", b"sandbox-exec")


def neutral(argv: Words, provider: str | None) -> Words:
    """Return the command without the flags by which the provider would set up its own sandbox."""
    ours, rest = split(argv)
    if provider in NEUTRAL:
        ours = NEUTRAL[provider](ours)
    return ours + rest


def split(argv: Words) -> tuple[Words, Words]:
    """Split the command at the first `--`. Words after it are not flags."""
    end = argv.index(b"--", 1) if b"--" in argv[1:] else len(argv)
    return argv[:end], argv[end:]


def codex(words: Words) -> Words:
    kept, place = [], None
    i = 0
    while i < len(words):
        modes, settings = codex_mode(words, i), codex_setting(words, i)
        if i == 0 or not (modes or settings):
            kept.append(words[i])
            i += 1
            continue
        if modes and place is None:
            place = len(kept)
        i += modes or settings
    return with_mode(kept, codex_place(kept) if place is None else place)


def codex_mode(words: Words, i: int) -> int:
    """Return how many words at this index set a sandbox mode; 0 if they do not."""
    word = words[i]
    if word in CODEX_MODES:
        # A mode never begins with a dash. So if the value is missing, the next flag is not taken
        # for the value.
        return 2 if words[i + 1 : i + 2] and not words[i + 1].startswith(b"-") else 1
    return int(word.startswith((b"--sandbox=", b"-s")))


def codex_setting(words: Words, i: int) -> int:
    """Return how many words at this index set a sandbox mode by a setting; 0 if they do not."""
    word = words[i]
    if word in CODEX_SETTINGS and i + 1 < len(words):
        return 2 if words[i + 1].startswith(CODEX_SETTING) else 0
    return int(word == b"--full-auto" or word.startswith(b"--config=" + CODEX_SETTING))


def codex_place(words: Words) -> int:
    """Return the index for a first flag: after the program, or after its `exec`."""
    return 2 if words[1:2] and words[1] in CODEX_RUNS else 1


def with_mode(words: Words, place: int) -> Words:
    return [*words[:place], b"--sandbox", CODEX_MODE, *words[place:]]


def gemini(words: Words) -> Words:
    kept = words[:1]
    i = 1
    while i < len(words):
        count = gemini_flag(words, i)
        if count == 0:
            kept.append(words[i])
        i += count or 1
    return kept


def gemini_flag(words: Words, i: int) -> int:
    """Return how many words at this index are the flag with its value; 0 for another word."""
    if words[i] in GEMINI_FLAGS:
        return 2 if i + 1 < len(words) and words[i + 1] in GEMINI_VALUES else 1
    return int(words[i].startswith((b"--sandbox=", b"-s=")))


NEUTRAL = {"codex": codex, "gemini": gemini}
