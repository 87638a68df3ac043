"""Read the text of a profile into nested lists of symbols, numbers and strings.

The language is TinyScheme. Strings are bytes, like paths. A token of unknown meaning becomes an
UnknownToken, so that only the clause with this token is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

# A hostile text must not take much time. So there are limits.
TEXT_BYTES = 2**20
NESTED = 64
# sandbox-exec was observed to refuse a longer string.
STRING_BYTES = 1025

_TOKENS = rb"""(?P<blank>[ \t\r\n\f\v]+|;[^\n]*|\#![^\n]*)
    |(?P<block>\#\|)
    |(?P<open>\()
    |(?P<close>\))
    |(?P<quote>'|`|,@|,)
    |(?P<raw>\#"(?:%s)*")
    |(?P<string>"(?:[^"\\]|\\.)*+")
    |(?P<character>\#\\(?:[A-Za-z0-9]+|.))
    # A double quote inside a symbol does not end it: `unbound variable: quote"` was observed.
    |(?P<atom>[^\s()";'`,][^\s();]*)"""
# In `#"…"`, a backslash before a quotation mark may escape the mark, or the mark may end the
# string: the sources disagree. The key is True for the reading in which the backslash escapes.
_TOKEN = {
    False: re.compile(_TOKENS % rb'[^"]', re.X | re.S),
    True: re.compile(_TOKENS % rb'[^"\\]|\\.', re.X | re.S),
}
_OF_ONE_LINE = frozenset(("open", "close", "quote", "atom"))
_DOUBT = re.compile(rb'#"[^"]*\\"')
_QUOTES = {b"'": "quote", b"`": "quasiquote", b",": "unquote", b",@": "unquote-splicing"}
_ESCAPE = re.compile(rb"\\(x[0-9A-Fa-f]{2}|.)", re.S)
_CONTROLS = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}
_DECIMAL = re.compile(r"[-+]?[0-9]{1,18}")
_BASED = re.compile(r"#([xobd])([-+]?[0-9A-Fa-f]{1,18})")
_REAL = re.compile(r"[-+]?[0-9]{0,18}\.[0-9]{1,18}")
_CHARACTERS = {"space": 32, "newline": 10, "return": 13, "tab": 9}
_BASES = {"x": 16, "o": 8, "b": 2, "d": 10}

TINYSCHEME = "TinyScheme 1.41, the language of profiles"


class Unreadable(Exception):
    """Raised for a text that has no meaning."""

    kind = "unreadable"

    def __init__(self, line: int, words: str, file: str = "") -> None:
        super().__init__(f"line {line}: {words}")
        self.line, self.words, self.file = line, words, file


class Refused(Unreadable):
    """Raised for a text that sandbox-exec refuses.

    source: where the refusal was observed, or from what it follows.
    """

    kind = "refused"

    def __init__(self, line: int, words: str, source: str) -> None:
        super().__init__(line, words)
        self.source = source


class Unset(Unreadable):
    """Raised if a string is needed, and the argument is a parameter without a value."""

    kind = "parameter"

    def __init__(self, line: int, names: tuple[str, ...], file: str = "") -> None:
        super().__init__(line, f"parameter {names[0]} is not set", file)
        self.names = names


class Undecidable(Unreadable):
    """Raised for a text of unknown meaning."""

    kind = "undecidable"


class OutsideDialect(Undecidable):
    """Raised for a count, a class name or a backslash letter in a regular expression.

    There is no evidence that Seatbelt supports these.
    """


class Malformed(Undecidable):
    """Raised for a regular expression that is wrong in every dialect, such as a class that does not
    end."""


@dataclass(frozen=True)
class Symbol:
    name: str
    line: int

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class UnknownToken:
    """A token of unknown meaning; `words` describes it."""

    words: str
    line: int
    written: str

    def __str__(self) -> str:
        return self.written


@dataclass(frozen=True)
class String:
    value: bytes
    line: int
    written: bytes

    @property
    def inside(self) -> bytes:
        """Return the spelling between the quotes of `"…"` or `#"…"`."""
        return self.written.removeprefix(b"#")[1:-1]

    def __str__(self) -> str:
        return self.written.decode("utf-8", "backslashreplace")


@dataclass(frozen=True)
class Constant:
    """A number, or `#t` and `#f`."""

    value: int | float | bool
    line: int

    def __str__(self) -> str:
        if isinstance(self.value, bool):
            return "#t" if self.value else "#f"
        return str(self.value)


@dataclass(frozen=True)
class Character:
    code: int
    line: int
    written: str

    def __str__(self) -> str:
        return self.written


@dataclass(frozen=True)
class List:
    items: tuple[Node, ...]
    line: int

    @property
    def head(self) -> str:
        """Return the name of the symbol at the start of the list, or an empty string."""
        first = self.items[0] if self.items else None
        return first.name if isinstance(first, Symbol) else ""

    def __str__(self) -> str:
        return f"({' '.join(map(str, self.items))})"


Node = Symbol | String | Constant | Character | UnknownToken | List


def read(text: bytes) -> list[Node]:
    """Return the forms of a text, in order."""
    if len(text) > TEXT_BYTES:
        raise Undecidable(1, f"a text of more than {TEXT_BYTES} bytes")
    plain = _Reading(text, escapes=False)
    if plain.doubtful is None:
        return plain.result()
    readings = (plain, _Reading(text, escapes=True))
    readable = [each.result() for each in readings if each.why is None]
    if not readable or readable[0] != readable[-1]:
        raise plain.why or Undecidable(plain.doubtful, 'a backslash before a quote in #"…"')
    return readable[0]


class _Reading:
    """One reading of a text.

    escapes: True if a backslash before a quote in `#"…"` escapes the quote.
    doubtful: the line of the first such backslash.
    why: the reason why the text is unreadable.
    """

    def __init__(self, text: bytes, *, escapes: bool) -> None:
        self.text, self.escapes = text, escapes
        self.line, self.doubtful = 1, None if escapes else _doubt(text)
        # The lists that have not ended, the innermost last. The first one is the text itself. Each
        # has its line, and the quote before it. If there is a quote, the list ends with its first
        # form.
        self.lists: list[tuple[list[Node], int, str]] = [([], 1, "")]
        # The number of open lists beyond the limit. All of them become one UnknownToken.
        self.beyond = 0
        self.why: Unreadable | None = None
        try:
            self.all()
        except Unreadable as why:
            self.why = why

    def result(self) -> list[Node]:
        if self.why is not None:
            raise self.why
        return self.lists[0][0]

    def all(self) -> None:
        at = 0
        while at < len(self.text):
            found = _TOKEN[self.escapes].match(self.text, at)
            if found is None:
                source = f"{TINYSCHEME}: Error reading string"
                raise Refused(self.line, "a string that does not end", source)
            token, kind = found[0], str(found.lastgroup)
            if kind == "block":
                token = self.comment(at)
            elif kind != "blank":
                self.take(kind, token)
            if kind not in _OF_ONE_LINE:
                self.line += token.count(b"\n")
            at += len(token)
        if len(self.lists) > 1:
            source = "published runs: syntax error: expecting ')', exit status 65"
            raise Refused(self.lists[-1][1], "a list that does not end", source)

    def comment(self, at: int) -> bytes:
        """Return a comment `#|…|#`.

        TinyScheme has no such comments. Either the profile is refused, or its reader supports them.
        In both cases the content is not a clause.
        """
        end = self.text.find(b"|#", at + 2)
        if end < 0 or b"#|" in self.text[at + 2 : end]:
            raise Undecidable(self.line, "a comment #| that does not end or has another inside")
        return self.text[at : end + 2]

    def take(self, kind: str, token: bytes) -> None:
        if self.beyond:
            self.beyond += {"open": 1, "close": -1}.get(kind, 0)
            if not self.beyond:
                words = f"a form of more than {NESTED} lists inside each other"
                _put(self.lists, UnknownToken(words, self.line, "(…)"))
        elif kind == "open" and len(self.lists) > NESTED:
            self.beyond = 1
        elif kind in ("open", "quote"):
            if len(self.lists) > 2 * NESTED:
                raise Undecidable(self.line, f"more than {NESTED} quotes inside each other")
            self.lists.append(([], self.line, _QUOTES.get(token, "")))
        elif kind == "close":
            if len(self.lists) == 1 or self.lists[-1][2]:
                raise Refused(
                    self.line, "a closing parenthesis too many", f"{TINYSCHEME}: syntax error"
                )
            items, began, _ = self.lists.pop()
            _put(self.lists, List(tuple(items), began))
        else:
            _put(self.lists, _leaf(kind, token, self.line))


def _doubt(text: bytes) -> int | None:
    """Return the line of the first `#"…"` in which a backslash precedes a quote, or None."""
    found = _DOUBT.search(text)
    return None if found is None else text.count(b"\n", 0, found.start()) + 1


def _put(lists: list[tuple[list[Node], int, str]], node: Node) -> None:
    """Add a form to the innermost list. Close quotes, because a quote takes exactly one form."""
    while lists[-1][2]:
        _, line, quote = lists.pop()
        node = List((Symbol(quote, line), node), line)
    lists[-1][0].append(node)


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
    written = token.decode("utf-8", "backslashreplace")
    if kind == "character":
        code = _character(written.removeprefix("#\\"))
        if code is None:
            return UnknownToken(f"the character {written}", line, written)
        return Character(code, line, written)
    inside = token[2:-1] if kind == "raw" else token[1:-1]
    if len(inside) > STRING_BYTES:
        source = "a published comment of a sandbox's author: Error reading string"
        raise Refused(line, f"a string of more than {STRING_BYTES} bytes", source)
    if b"\0" in inside:
        return UnknownToken("a NUL in a string", line, written)
    if kind == "string":
        return _unescaped(token, line)
    if b'\\"' in inside:
        return UnknownToken('a backslash before a quote in #"…"', line, written)
    return String(inside, line, token)


def _unescaped(token: bytes, line: int) -> Node:
    unknown = ""

    def meant(found: re.Match[bytes]) -> bytes:
        nonlocal unknown
        letter = found[1]
        if letter == b"u" or letter == b"x":
            unknown = f"the escape \\{letter.decode()} in a string"
        if len(letter) == 3:
            return bytes([int(letter[1:], 16)])
        return _CONTROLS.get(letter, letter)

    value = _ESCAPE.sub(meant, token[1:-1])
    if unknown:
        return UnknownToken(unknown, line, token.decode("utf-8", "backslashreplace"))
    return String(value, line, token)


def _character(name: str) -> int | None:
    if len(name) == 1 and name.isascii():
        return ord(name)
    if re.fullmatch(r"x[0-9A-Fa-f]{1,2}", name):
        return int(name[1:], 16)
    return _CHARACTERS.get(name.lower())


def _atom(token: bytes, line: int) -> Node:
    word = token.decode("utf-8", "backslashreplace")
    if word in ("#t", "#f"):
        return Constant(word == "#t", line)
    number = _number(word)
    if number is not None:
        return Constant(number, line)
    if word.startswith("#"):
        return UnknownToken(f"the word {word[:40]}", line, word)
    if '"' in word:
        raise Refused(line, f"unbound variable: {word[:40]}", "published runs, exit status 65")
    return Symbol(word, line)


@lru_cache(maxsize=10_000)
def _number(word: str) -> int | float | None:
    if _DECIMAL.fullmatch(word):
        return int(word)
    based = _BASED.fullmatch(word)
    if based is not None:
        try:
            return int(based[2], _BASES[based[1]])
        except ValueError:
            return None
    return float(word) if _REAL.fullmatch(word) else None
