"""The values of the language: strings are bytes, lists are tuples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from contracts.sbpl.seatbelt.filters import Gap
from contracts.sbpl.seatbelt.reader import List, Node, String, UnknownToken


class Quoted(str):
    """A quoted symbol, such as `'name`."""


@dataclass(frozen=True)
class Letter:
    """A character: one byte of a string."""

    code: int


@dataclass(frozen=True)
class Operation:
    name: str


@dataclass(frozen=True)
class Modifier:
    """A modifier, written `(with …)`.

    name: empty if the modifier is unknown.
    """

    name: str
    form: List


@dataclass(frozen=True)
class Unknown:
    """An unknown value, with the reason why it is unknown."""

    gap: Gap
    line: int


@dataclass(frozen=True)
class NotSet:
    """The value of `(param NAME)` if the parameter has no value. It acts as #f; messages need the
    name."""

    name: str
    line: int
    file: str


@dataclass(frozen=True)
class Nothing:
    """The value of a form that is evaluated only for its effect."""


NOTHING = Nothing()


@dataclass(eq=False)
class Scope:
    """Names with their values.

    branches: the number of unknown conditions around the place where the scope was made.
    """

    names: dict[str, object]
    outer: Scope | None = None
    branches: int = 0

    def find(self, name: str) -> Scope | None:
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.outer
        return scope


@dataclass(eq=False)
class Function:
    """A function that the profile defines."""

    name: str
    parameters: tuple[str, ...]
    rest: str
    body: tuple[Node, ...]
    scope: Scope


@dataclass(eq=False)
class Builtin:
    """A function of the language.

    words: True if an unbound name in its call stands for itself.
    """

    name: str
    call: Callable[[Sequence[object], List], object]
    words: bool = False
    strict: bool = field(default=True, kw_only=True)


def is_false(value: object) -> bool:
    return value is False or isinstance(value, NotSet)


def strange(form: List) -> Unknown:
    """Return the value of a form whose meaning is unknown."""
    return Unknown(Gap(f"the form {str(form)[:80]}"), form.line)


def quoted(value: object) -> str:
    """Return the spelling of a filter's value in the text of a profile."""
    if isinstance(value, bytes):
        escaped = value.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
        return f'"{escaped.decode("utf-8", "backslashreplace")}"'
    if isinstance(value, int | str):
        return str(value)
    return "…"


def spelled(form: List, values: Sequence[object]) -> tuple[str, ...]:
    """Return the spelling of each argument.

    A constant is spelled as in the profile. Other arguments are spelled by their value.
    """
    nodes = form.items[1:]
    if len(nodes) != len(values):
        return tuple(map(quoted, values))
    pairs = zip(nodes, values, strict=True)
    return tuple(
        str(node) if isinstance(node, String | UnknownToken) else quoted(each)
        for node, each in pairs
    )
