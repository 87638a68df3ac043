"""Parts that the readers share: lists of texts, unknown keys, and paths."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from boxspec.verify.meaning import Entry, Meaning, Where
from dialects.reading_json import JsonError, Node, Pairs, parse

# The meaning of a key whose value changes nothing about it, and the reason.
Notes = Mapping[str, tuple[Meaning, str]]
NO_ROW = "no row asks about it"
NO_SHELL = "no shell replaces the variable: write ~ or the whole path"
NO_USER = "only ~ and ~/ mean a home directory: write the whole path"
NO_SUCH_KEY = "the documentation names no such key"
ALL_OF_HOME = "all of your home directory can be written, also what a login runs"
NO_LIST = "is not a list"
NO_TEXT = "is not a string; versions of the tool drop the whole list, or all settings, for it"
NO_SWITCH = "is neither true nor false"
# Launchers pass each match as words of one argument list, which the kernel limits.
MATCHES_MOST = 1000
WALKED_MOST = 50_000


def document(text: str) -> Node | Entry:
    """Return the object of a JSON text, or one entry that names the problem."""
    try:
        node = parse(text)
    except JsonError as why:
        return Entry(why.line, "", "", Meaning.DEAD, f"the file is not valid JSON: {why}")
    if not isinstance(node.value, Pairs):
        return Entry(node.line, "", node.shown, Meaning.DEAD, "the file is not an object")
    return node


def not_json(text: str) -> Entry | None:
    """Return an entry for a text with comments or last commas, which JSON does not have."""
    try:
        json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        why = "is not JSON: comments and last commas are not allowed, and the file is refused"
        return Entry(error.lineno, "", "", Meaning.DEAD, why)
    except (ValueError, RecursionError):
        pass
    return None


def unknown(node: Node, known: Iterable[str], key: str = "") -> Iterator[Entry]:
    """Yield an entry for each key that the documentation does not name, and for repeated ones."""
    names = frozenset(known)
    for name, value in node.members:
        path = f"{key}.{name}" if key else name
        last = node.get(name)
        if name not in names:
            yield Entry(value.line, path, value.shown, Meaning.UNKNOWN, NO_SUCH_KEY)
        elif last is not None and last is not value:
            why = f"the key is repeated in line {last.line}, and the last one counts"
            yield Entry(value.line, path, value.shown, Meaning.DEAD, why)


def texts(node: Node | None, key: str) -> tuple[list[Node], list[Entry]]:
    """Return the texts of a list, and an entry for each other item."""
    if node is None:
        return [], []
    if not isinstance(node.value, list):
        return [], [Entry(node.line, key, node.shown, Meaning.DEAD, NO_LIST)]
    good = [each for each in node.value if isinstance(each.value, str) and each.value]
    wrong = [
        Entry(each.line, key, each.shown, Meaning.DEAD, NO_TEXT)
        for each in node.value
        if not isinstance(each.value, str) or not each.value
    ]
    return good, wrong


def boolean(node: Node | None, key: str) -> tuple[bool | None, list[Entry]]:
    """Return a value that is true or false, and an entry if it is neither."""
    if node is None or isinstance(node.value, bool):
        return (node.value if node else None), []
    return None, [Entry(node.line, key, node.shown, Meaning.DEAD, NO_SWITCH)]


def noted(node: Node | None, notes: Notes, key: str = "") -> Iterator[Entry]:
    """Yield an entry for each key that has a note. A switch that is off has no effect to name."""
    for name, value in node.members if node else ():
        meaning, why = notes.get(name, (Meaning.UNKNOWN, ""))
        if why and value.value is not False:
            path = f"{key}.{name}" if key else name
            yield Entry(value.line, path, value.shown, meaning, why)


def only_for_a_shell(path: str) -> str:
    """Return why a path has no effect: only a shell would replace its beginning. Else return ""."""
    if path.startswith("$"):
        return NO_SHELL
    return NO_USER if re.match(r"~[^/]", path) else ""


def has_home(path: str, where: Where) -> bool:
    """True if a path is the home directory or a folder above it."""
    return covers(str(where.real(path)), str(where.home))


def without_subtree(path: str) -> str:
    """Return a path without a last `/**`, which means the folder and all below it."""
    return path.removesuffix("/**") or "/"


def covers(outer: str, inner: str) -> bool:
    """True if `inner` is `outer` or lies below it."""
    above, below = PurePosixPath(outer), PurePosixPath(inner)
    return below == above or above in below.parents or outer in (".", "/")


def many(pattern: str, where: Where) -> int:
    """Count the files that a glob matches now. Counting stops after some thousands."""
    last = pattern.rstrip("/").split("/")[-1]
    literal = [part for part in pattern.split("/")[:-1] if part]
    folder = where.real(pattern.partition("*")[0].rpartition("/")[0] or ".")
    found = walked = 0
    if "\0" in pattern:
        return 0
    for _, _, names in os.walk(folder):
        walked += len(names)
        if last in ("*", "**"):
            found += len(names)
        elif not literal or "**" in literal:
            found += sum(PurePosixPath(name).match(last) for name in names)
        if walked > WALKED_MOST or found > MATCHES_MOST * 3:
            break
    return found


def of_now(path: str, where: Where) -> str:
    """Return a remark about a rule's path if it is a link or does not exist now, otherwise ""."""
    real = where.real(path)
    try:
        if real.is_symlink():
            return f"it is a link to {os.readlink(real)} now"  # noqa: PTH115
        return "" if os.path.lexists(real) else "nothing is there now"
    except (OSError, ValueError):
        return "it cannot be a path"
