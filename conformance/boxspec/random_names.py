"""Random names of files and folders, from which a sandbox cannot recognise a test."""

from __future__ import annotations

import re
import secrets

WORDS = (
    "atlas",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "heron",
    "indigo",
    "juniper",
)
# Ordinary names of programs, without a meaning for a sandbox. No tool makes folders of these names.
PROGRAMS = ("bundle", "check", "clean", "deploy", "docs", "generate", "lint", "serve", "update")
_WORD = f"(?:{'|'.join(WORDS)})"
_HEX = "[0-9a-f]{6}"
# Matches a path, up to its end, in which one component has a random name.
_RANDOM = re.compile(
    rf"/(?:[^\s/]+/)*(?:{_WORD}-{_HEX}|{_WORD}_{_WORD}_{_HEX}|{_WORD}{_HEX}|{_HEX}\.{_WORD})"
    r"(?:[^\s\"':;,)]*)"
    # The end of the text may be cut off within a random name.
    rf"|/(?:[^\s/]+/)*(?:{_WORD}[\w-]*|{_HEX}\.[a-z]*)$",
    re.IGNORECASE,
)


def without_random_names(text: str, name: str) -> str:
    """Replace each path with a random name in it, for a text that is the same in each run."""
    return _RANDOM.sub(name, text)


def random_name() -> str:
    return f"{secrets.choice(WORDS)}-{secrets.token_hex(3)}"


def random_folder_name() -> str:
    """Return a name in one of the forms that folders of projects have."""
    word, other, end = secrets.choice(WORDS), secrets.choice(WORDS), secrets.token_hex(3)
    return secrets.choice(
        [f"{word}-{end}", f"{word}_{other}_{end}", f"{word.title()}{end}", f"{end}.{word}"]
    )


def random_program_name() -> str:
    end = secrets.choice(["", f"-{secrets.choice(WORDS)}", f"{secrets.randbelow(100)}"])
    return f"{secrets.choice(PROGRAMS)}{end}"


def random_variable_name() -> str:
    return "_".join(secrets.choice(WORDS).upper() for _ in range(3))
