"""Make random names of files and folders. A sandbox cannot recognise a test by them."""

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
# Ordinary names of programs, which mean nothing to a sandbox. No tool makes folders with these
# names.
PROGRAMS = ("bundle", "check", "clean", "deploy", "docs", "generate", "lint", "serve", "update")
_WORD = f"(?:{'|'.join(WORDS)})"
_HEX = "[0-9a-f]{6}"
# Matches a whole path if one of its components has a random name.
_RANDOM = re.compile(
    rf"/(?:[^\s/]+/)*(?:{_WORD}-{_HEX}|{_WORD}_{_WORD}_{_HEX}|{_WORD}{_HEX}|{_HEX}\.{_WORD})"
    r"(?:[^\s\"':;,)]*)"
    # The text may be cut off within a random name.
    rf"|/(?:[^\s/]+/)*(?:{_WORD}[\w-]*|{_HEX}\.[a-z]*)$",
    re.IGNORECASE,
)


def without_random_names(text: str, name: str) -> str:
    """Replace each path that contains a random name, so that the text is the same in each run."""
    return _RANDOM.sub(name, text)


def random_name() -> str:
    return f"{secrets.choice(WORDS)}-{secrets.token_hex(3)}"


def random_folder_name() -> str:
    """Return a name in one of the forms in which projects name their folders."""
    word, other, end = secrets.choice(WORDS), secrets.choice(WORDS), secrets.token_hex(3)
    return secrets.choice(
        [f"{word}-{end}", f"{word}_{other}_{end}", f"{word.title()}{end}", f"{end}.{word}"]
    )


def random_program_name() -> str:
    end = secrets.choice(["", f"-{secrets.choice(WORDS)}", f"{secrets.randbelow(100)}"])
    return f"{secrets.choice(PROGRAMS)}{end}"


def random_variable_name() -> str:
    return "_".join(secrets.choice(WORDS).upper() for _ in range(3))
