"""The one place that escapes what a shim said, before it reaches a terminal, a log or a file."""

from __future__ import annotations

import re
import unicodedata

# Of a line these are instructions to whoever collects the log of a build.
_COMMAND = re.compile(r"^(\s*)::|##(?=\[|vso\[)")


def one_line(text: object) -> str:
    """The text as one line that does nothing but show: controls as \\n, \\x1b, \\u202e."""
    shown = str(text)
    if not shown.isprintable():
        shown = "".join(map(_shown, shown))
    if "::" in shown or "##" in shown:
        shown = _COMMAND.sub(_defused, shown)
    return shown


def _shown(character: str) -> str:
    # Zs: a space of another width is a space; controls, surrogates and marks of direction are not.
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return character.encode("unicode_escape").decode("ascii")


def _defused(found: re.Match[str]) -> str:
    return f"{found[1]}\\::" if found[1] is not None else "#\\#"
