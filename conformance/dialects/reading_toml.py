"""TOML with the line of each value, as far as its text shows it."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from boxspec.verify.meaning import Entry, Meaning


def tables(text: str) -> dict[str, Any] | Entry:
    """Return the tables of a text, or one entry that names the problem."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as why:
        found = re.search(r"line (\d+)", str(why))
        line = int(found[1]) if found else 1
        return Entry(line, "", "", Meaning.DEAD, f"the file is not valid TOML: {why}")


def line_of(text: str, *words: str) -> int:
    """Find the line of a value for a message.

    The words are searched one after the other, each from the line of the one before; a word that is
    missing is skipped.
    """
    lines, at = text.splitlines(), 0
    for word in words:
        wanted = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
        found = (number for number in range(at, len(lines)) if wanted.search(lines[number]))
        at = next(found, at)
    return at + 1


def shown(value: Any) -> str:
    try:
        return value if isinstance(value, str) else str(value)[:200]
    except ValueError:
        # Python writes no number of more than some thousand digits.
        return "a very long number"
