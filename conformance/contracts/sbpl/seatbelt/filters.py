"""Filters: the subjects of a clause. Each filter answers yes, no, or None if it is unknown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from contracts.sbpl.seatbelt.reader import (
    List,
    Node,
    OutsideDialect,
    Undecidable,
    Unreadable,
)
from contracts.sbpl.seatbelt.regexes import Purse, Regex


@dataclass(frozen=True)
class Subject:
    """The subject of an operation: a path, a call to a policy of the kernel, or neither."""

    path: bytes | None = None
    policy: bytes | None = None
    call: int | None = None


NOTHING = Subject()
Met = bool | None


@dataclass(frozen=True)
class Gap:
    """An unknown form; `dialect`: a form that a regular expression must not have."""

    words: str
    dialect: bool = False


class Filter(ABC):
    """One filter; `form` is its spelling in the text."""

    form: List

    @abstractmethod
    def meets(self, subject: Subject) -> Met: ...

    def unknown(self) -> list[Gap]:
        """Return the unknown forms in the filter."""
        return []

    def parts(self) -> list[Filter]:
        """Return the filter and all filters inside it."""
        return [self]


@dataclass(frozen=True, eq=False)
class Literal(Filter):
    form: List
    path: bytes

    def meets(self, subject: Subject) -> Met:
        return None if subject.path is None else subject.path == self.path


@dataclass(frozen=True, eq=False)
class Subpath(Filter):
    form: List
    path: bytes

    def meets(self, subject: Subject) -> Met:
        if subject.path is None:
            return None
        within = self.path if self.path == b"/" else self.path + b"/"
        return subject.path == self.path or subject.path.startswith(within)


@dataclass(frozen=True, eq=False)
class Prefix(Filter):
    form: List
    path: bytes

    def meets(self, subject: Subject) -> Met:
        return None if subject.path is None else subject.path.startswith(self.path)


@dataclass(frozen=True, eq=False)
class Matching(Filter):
    """`regex` with one or several expressions."""

    form: List
    regexes: tuple[Regex, ...]

    def meets(self, subject: Subject) -> Met:
        path = subject.path
        return None if path is None else any_of(each.matches(path) for each in self.regexes)

    def unknown(self) -> list[Gap]:
        return [Gap(each.unknown) for each in self.regexes if each.unknown]


@dataclass(frozen=True, eq=False)
class OfPolicy(Filter):
    form: List
    name: bytes

    def meets(self, subject: Subject) -> Met:
        return None if subject.policy is None else subject.policy == self.name


@dataclass(frozen=True, eq=False)
class OfCall(Filter):
    form: List
    number: int

    def meets(self, subject: Subject) -> Met:
        return None if subject.call is None else subject.call == self.number


@dataclass(frozen=True, eq=False)
class Unknown(Filter):
    form: List
    gap: Gap

    def meets(self, subject: Subject) -> Met:
        return None

    def unknown(self) -> list[Gap]:
        return [self.gap]


@dataclass(frozen=True, eq=False)
class Joined(Filter):
    """`require-any`, `require-all`, `require-not`."""

    form: List
    of: tuple[Filter, ...]

    def meets(self, subject: Subject) -> Met:
        met = (each.meets(subject) for each in self.of)
        if self.form.head == "require-any":
            return any_of(met)
        if self.form.head == "require-all":
            return negated(any_of(map(negated, met)))
        return negated(any_of(met))

    def unknown(self) -> list[Gap]:
        return [gap for each in self.of for gap in each.unknown()]

    def parts(self) -> list[Filter]:
        return [self, *(part for each in self.of for part in each.parts())]


def negated(met: Met) -> Met:
    return None if met is None else not met


def any_of(met: Iterable[Met]) -> Met:
    """Return True if one filter matches, otherwise None if one of them is unknown."""
    known: Met = False
    for each in met:
        if each:
            return True
        if each is None:
            known = None
    return known


# From the form ------------------------------------------------------------------------------

Evaluate = Callable[[Node], object]
Value = TypeVar("Value", bytes, int)
_PATHS: dict[str, type[Literal] | type[Subpath] | type[Prefix]] = {
    "literal": Literal,
    "path": Literal,
    "subpath": Subpath,
    "prefix": Prefix,
    "literal-prefix": Prefix,
}
JOINS = ("require-any", "require-all", "require-not")


def made(form: Node, value: Evaluate, purse: Purse) -> Filter:
    """Return the filter of a form; `value` evaluates a string, a name or a `param`."""
    if not isinstance(form, List) or not form.head:
        raise Unreadable(form.line, f"{str(form)[:80]} is no filter")
    try:
        return _made(form, value, purse)
    except Undecidable as why:
        return Unknown(form, Gap(why.words, isinstance(why, OutsideDialect)))


def _made(form: List, value: Evaluate, purse: Purse) -> Filter:
    name, arguments = form.head, form.items[1:]
    if name in JOINS:
        if not arguments or (name == "require-not" and len(arguments) > 1):
            raise Unreadable(form.line, f"{name} of {len(arguments)} filters")
        return Joined(form, tuple(made(each, value, purse) for each in arguments))
    if name in _PATHS:
        return _PATHS[name](form, _path(form, _one(form, value, bytes), name))
    if name == "regex":
        if not arguments:
            raise Unreadable(form.line, "regex of nothing")
        words = [_typed(form, value(each), bytes) for each in arguments]
        return Matching(form, tuple(Regex(each, form.line, purse) for each in words))
    if name == "mac-policy-name":
        return OfPolicy(form, _one(form, value, bytes))
    if name == "mac-syscall-number":
        return OfCall(form, _one(form, value, int))
    return Unknown(form, Gap(f"the filter {str(form)[:80]}"))


def _one(form: List, value: Evaluate, kind: type[Value]) -> Value:
    if len(form.items) != 2:
        raise Undecidable(form.line, f"{form.head} of {len(form.items) - 1} arguments")
    return _typed(form, value(form.items[1]), kind)


def _typed(form: List, what: object, kind: type[Value]) -> Value:
    if isinstance(what, kind) and not isinstance(what, bool):
        return what
    words = "string" if kind is bytes else "number"
    raise Unreadable(form.line, f"{form.head} takes a {words}, got {what!r:.80}")


def _path(form: List, path: bytes, name: str) -> bytes:
    if name.endswith("prefix"):
        return path
    if not path.startswith(b"/"):
        raise Undecidable(form.line, f"{name} of a path that is not absolute")
    # sandbox-exec was observed to drop a trailing slash.
    return path.rstrip(b"/") or b"/"
