"""Escape the output of a shim before it is written to a terminal, a log or a file."""

from __future__ import annotations

import re
import unicodedata

# Matches prefixes that turn a line into a command for programs that collect build logs.
_COMMAND = re.compile(r"^(\s*)::|##(?=\[|vso\[)")


def one_line(text: object) -> str:
    """Return the text as one line, with control characters escaped as \\n, \\x1b, \\u202e."""
    shown = str(text)
    if not shown.isprintable():
        shown = "".join(map(_shown, shown))
    if "::" in shown or "##" in shown:
        shown = _COMMAND.sub(_defused, shown)
    return shown


def _shown(character: str) -> str:
    # Blanks of any width (category Zs) stay. Control characters, surrogates and direction marks are
    # escaped.
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return character.encode("unicode_escape").decode("ascii")


def _defused(found: re.Match[str]) -> str:
    return f"{found[1]}\\::" if found[1] is not None else "#\\#"
