"""Read the text of a profile into nested lists of symbols, numbers and strings.

The language is a Scheme. The reader knows the forms that published profiles use; another form of
Scheme makes the text undecidable. Strings are bytes, like paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# A hostile text must not cost the kit more than a moment.
TEXT_BYTES = 2**20
NESTED = 64
# sandbox-exec was observed to refuse longer strings.
STRING_BYTES = 1025

_TOKEN = re.compile(
    rb"""(?P<blank>[ \t\r\n]+|;[^\n]*)
    |(?P<open>\()
    |(?P<close>\))
    |(?P<raw>\#"[^"]*")
    |(?P<string>"(?:[^"\\]|\\.)*+")
    |(?P<atom>[^\s()";]+)""",
    re.X | re.S,
)
_ESCAPE = re.compile(rb"\\(x[0-9A-Fa-f]{2}|.)", re.S)
_CONTROLS = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}
_SYMBOL = re.compile(r"[A-Za-z][A-Za-z0-9*+/<=>!?.:_-]*")


class Unreadable(Exception):
    """A text that sandbox-exec would refuse."""

    kind = "refused"

    def __init__(self, line: int, words: str) -> None:
        super().__init__(f"line {line}: {words}")
        self.line, self.words = line, words


class Undecidable(Unreadable):
    """A text whose meaning is unknown here."""

    kind = "undecidable"


class OutsideDialect(Undecidable):
    """A count, a class name or a backslash letter: no evidence shows that Seatbelt supports it."""


@dataclass(frozen=True)
class Symbol:
    name: str
    line: int

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class String:
    value: bytes
    line: int
    written: bytes

    @property
    def inside(self) -> bytes:
        """Return the spelling between the quotes, also for `#"…"`."""
        return self.written.removeprefix(b"#")[1:-1]

    def __str__(self) -> str:
        return self.written.decode("utf-8", "backslashreplace")


@dataclass(frozen=True)
class Constant:
    """A number, or `#t` and `#f`."""

    value: int | bool
    line: int

    def __str__(self) -> str:
        if isinstance(self.value, bool):
            return "#t" if self.value else "#f"
        return str(self.value)


@dataclass(frozen=True)
class List:
    items: tuple[Node, ...]
    line: int

    @property
    def head(self) -> str:
        """Return the name of the symbol that the list begins with, or an empty string."""
        first = self.items[0] if self.items else None
        return first.name if isinstance(first, Symbol) else ""

    def __str__(self) -> str:
        return f"({' '.join(map(str, self.items))})"


Node = Symbol | String | Constant | List


def read(text: bytes) -> list[Node]:
    """Return the forms of a text, in order."""
    if len(text) > TEXT_BYTES:
        raise Undecidable(1, f"the text has more than {TEXT_BYTES} bytes")
    line = 1
    at = 0
    # The open lists and the lines of their starts; the first list is the text itself.
    lists: list[tuple[list[Node], int]] = [([], 1)]
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise Unreadable(line, "a string that does not end")
        token, kind = found[0], str(found.lastgroup)
        if kind == "open":
            if len(lists) > NESTED:
                raise Undecidable(line, f"more than {NESTED} lists inside each other")
            lists.append(([], line))
        elif kind == "close":
            if len(lists) == 1:
                raise Unreadable(line, "a closing parenthesis too many")
            items, began = lists.pop()
            lists[-1][0].append(List(tuple(items), began))
        elif kind != "blank":
            lists[-1][0].append(_leaf(kind, token, line))
        line += token.count(b"\n")
        at = found.end()
    if len(lists) > 1:
        raise Unreadable(lists[-1][1], "a list that does not end")
    return lists[0][0]


def strings(nodes: Iterable[Node]) -> Iterator[String]:
    """Yield the strings in the nodes and in nested lists."""
    for node in nodes:
        if isinstance(node, String):
            yield node
        elif isinstance(node, List):
            yield from strings(node.items)


def _leaf(kind: str, token: bytes, line: int) -> Node:
    if kind == "atom":
        return _atom(token, line)
    inside = token[2:-1] if kind == "raw" else token[1:-1]
    if len(inside) > STRING_BYTES:
        raise Unreadable(line, f"a string of more than {STRING_BYTES} bytes")
    if b"\0" in inside:
        raise Undecidable(line, "a NUL in a string")
    if kind == "string":
        return String(_unescaped(inside, line), line, token)
    if inside.endswith(b"\\"):
        # Sources disagree: the backslash escapes the quote, or the quote ends the string.
        raise Undecidable(line, 'a backslash before the quote that ends #"…"')
    return String(inside, line, token)


def _unescaped(inside: bytes, line: int) -> bytes:
    def meant(found: re.Match[bytes]) -> bytes:
        letter = found[1]
        if letter == b"u" or letter == b"x":
            raise Undecidable(line, f"the escape \\{letter.decode()} in a string")
        if len(letter) == 3:
            return bytes([int(letter[1:], 16)])
        return _CONTROLS.get(letter, letter)

    return _ESCAPE.sub(meant, inside)


def _atom(token: bytes, line: int) -> Node:
    try:
        word = token.decode("ascii")
    except UnicodeDecodeError:
        raise Unreadable(line, f"{token[:40]!r} is no symbol") from None
    if word in ("#t", "#f"):
        return Constant(word == "#t", line)
    if re.fullmatch(r"[0-9]{1,18}", word):
        return Constant(int(word), line)
    if not _SYMBOL.fullmatch(word):
        raise Undecidable(line, f"the word {word[:40]}")
    return Symbol(word, line)
