"""Filters, which select the subjects of a clause.

A filter matches (True), does not match (False), or its result is unknown (None).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from contracts.sbpl.seatbelt.reader import List
from contracts.sbpl.seatbelt.regexes import Regex

# A function of a profile could nest filters without end. So a filter beyond these limits counts as
# unknown.
DEEPEST, LARGEST = 200, 50_000


@dataclass(frozen=True)
class Address:
    """One end of a connection over IP. A host or a port `*` means any host or port."""

    protocol: str
    host: str
    port: str

    @property
    def is_local(self) -> bool | None:
        """True if the host is `localhost`. It means this machine, but not ::ffff:127.0.0.1."""
        if self.host == "*":
            return None
        return self.host in ("localhost", "127.0.0.1", "::1", "[::1]")


@dataclass(frozen=True)
class Subject:
    """The subject of an operation.

    It is a path, a call to a policy module of the kernel, an address, or names. `facts` contains
    the values for other filters, by the name of the filter. A missing fact is unknown; an empty
    tuple means that no value matches.
    """

    path: bytes | None = None
    policy: bytes | None = None
    call: int | None = None
    remote: Address | None = None
    local: Address | None = None
    facts: Mapping[str, tuple[bytes, ...]] = field(default_factory=dict)

    @property
    def is_on_ip(self) -> bool:
        return self.remote is not None or self.local is not None


NOTHING = Subject()
Met = bool | None


@dataclass(frozen=True)
class Gap:
    """The reason why a part of a profile cannot be decided.

    dialect: no regular expression of a profile may have this form.
    malformed: no dialect of regular expressions has this form.
    fact: the form is known, but its result depends on this fact, which the question does not give.
    """

    words: str
    dialect: bool = False
    fact: str = ""
    malformed: bool = False


class Filter(ABC):
    """A filter of a clause. Its `str` is its call with evaluated arguments.

    form: the call as it is written in the text.
    """

    form: List
    size = 1
    depth = 1

    @abstractmethod
    def meets(self, subject: Subject) -> Met: ...

    def unknown(self) -> list[Gap]:
        """Return the unknown forms in the filter."""
        return []

    def parts(self) -> list[Filter]:
        """Return the filter and all filters inside it."""
        return [self]

    def matched(self, subject: Subject) -> str:
        """Return the part of the filter that matches the subject."""
        return str(self)

    def line_of(self, subject: Subject) -> int:
        """Return the line of the profile with the part that matches the subject."""
        return self.form.line


class OfWords(Filter):
    """A filter that lists several words. It matches if one of the words matches.

    written: the words as the profile spells them.
    """

    name: str
    written: tuple[str, ...]

    @abstractmethod
    def each(self, subject: Subject) -> Iterable[Met]:
        """Return for each word True, False or None: the word matches the subject, or does not, or
        this is unknown."""

    def meets(self, subject: Subject) -> Met:
        return any_of(self.each(subject))

    def matched(self, subject: Subject) -> str:
        if not self.written:
            return str(self)
        pairs = zip(self.written, self.each(subject), strict=True)
        words = [word for word, met in pairs if met][:1]
        more = " …" if words and len(self.written) > 1 else ""
        return f"({' '.join([self.name, *(words or self.written)])}{more})"

    def __str__(self) -> str:
        return f"({' '.join((self.name, *self.written))})"


class OnPath(OfWords):
    """A filter on a path. For operations on the network it matches only Unix sockets."""

    def each(self, subject: Subject) -> Iterable[Met]:
        if subject.path is None:
            return [False if subject.is_on_ip else None] * len(self.written)
        return self.each_on(subject.path)

    @abstractmethod
    def each_on(self, path: bytes) -> Iterable[Met]:
        """Return for each word True, False or None: the word matches the path, or does not, or this
        is unknown."""


@dataclass(frozen=True, eq=False)
class OfPaths(OnPath):
    """A filter that lists paths."""

    form: List
    name: str
    written: tuple[str, ...]
    paths: tuple[bytes, ...]

    def each_on(self, path: bytes) -> Iterable[Met]:
        return (self.takes(each, path) for each in self.paths)

    @abstractmethod
    def takes(self, mine: bytes, path: bytes) -> bool: ...


class Literal(OfPaths):
    def takes(self, mine: bytes, path: bytes) -> bool:
        return mine == path


class Subpath(OfPaths):
    def takes(self, mine: bytes, path: bytes) -> bool:
        return path == mine or path.startswith(mine if mine == b"/" else mine + b"/")


class Prefix(OfPaths):
    def takes(self, mine: bytes, path: bytes) -> bool:
        return path.startswith(mine)


class Ancestors(OfPaths):
    """`path-ancestors`: matches the directories above a path, but not the path itself."""

    def takes(self, mine: bytes, path: bytes) -> bool:
        return mine != b"/" and (path == b"/" or mine.startswith(path + b"/"))


@dataclass(frozen=True, eq=False)
class Matching(OnPath):
    """`regex` with one or more expressions."""

    form: List
    name: str
    written: tuple[str, ...]
    regexes: tuple[Regex, ...]

    def each_on(self, path: bytes) -> Iterable[Met]:
        return (each.matches(path) for each in self.regexes)

    def unknown(self) -> list[Gap]:
        return [Gap(each.unknown, dialect=each.outside) for each in self.regexes if each.unknown]


@dataclass(frozen=True, eq=False)
class OfPolicy(Filter):
    form: List
    names: tuple[bytes, ...]

    def meets(self, subject: Subject) -> Met:
        return None if subject.policy is None else subject.policy in self.names

    def __str__(self) -> str:
        names = (f'"{each.decode("utf-8", "backslashreplace")}"' for each in self.names)
        return f"(mac-policy-name {' '.join(names)})"


@dataclass(frozen=True, eq=False)
class OfCall(Filter):
    form: List
    numbers: tuple[int, ...]

    def meets(self, subject: Subject) -> Met:
        return None if subject.call is None else subject.call in self.numbers

    def __str__(self) -> str:
        return f"(mac-syscall-number {' '.join(map(str, self.numbers))})"


@dataclass(frozen=True, eq=False)
class OfFact(OfWords):
    """A filter on one named fact of the subject: by a name, a prefix, or regular expressions."""

    form: List
    name: str
    written: tuple[str, ...]
    fact: str
    tests: tuple[Callable[[bytes], Met], ...]

    def each(self, subject: Subject) -> Iterable[Met]:
        values = subject.facts.get(self.fact)
        if values is None:
            return [None] * len(self.tests)
        return [any_of(map(test, values)) for test in self.tests]

    def unknown(self) -> list[Gap]:
        return [Gap(f"the filter {str(self)[:80]}", fact=self.fact)]


@dataclass(frozen=True, eq=False)
class Unknown(Filter):
    form: List
    gap: Gap

    def meets(self, subject: Subject) -> Met:
        return None

    def unknown(self) -> list[Gap]:
        return [self.gap]

    def __str__(self) -> str:
        return str(self.form)


class Joined(Filter):
    """`require-any`, `require-all`, `require-not`."""

    def __init__(self, name: str, form: List, of: tuple[Filter, ...]) -> None:
        self.name, self.form, self.of = name, form, of
        self.size = 1 + sum(each.size for each in of)
        self.depth = 1 + max(each.depth for each in of)

    def meets(self, subject: Subject) -> Met:
        met = (each.meets(subject) for each in self.of)
        if self.name == "require-any":
            return any_of(met)
        if self.name == "require-all":
            return negated(any_of(map(negated, met)))
        return negated(any_of(met))

    def unknown(self) -> list[Gap]:
        return [gap for each in self.of for gap in each.unknown()]

    def parts(self) -> list[Filter]:
        return [self, *(part for each in self.of for part in each.parts())]

    def matched(self, subject: Subject) -> str:
        if self.name == "require-all":
            return f"({' '.join([self.name, *(each.matched(subject) for each in self.of)])})"
        found = self._first(subject)
        return str(self) if found is None else found.matched(subject)

    def line_of(self, subject: Subject) -> int:
        found = self._first(subject)
        return self.form.line if found is None else found.line_of(subject)

    def _first(self, subject: Subject) -> Filter | None:
        """Return the alternative of a `require-any` that matches, or None."""
        if self.name != "require-any":
            return None
        return next((each for each in self.of if each.meets(subject)), None)

    def __str__(self) -> str:
        return f"({' '.join((self.name, *map(str, self.of)))})"


def joined(name: str, form: List, of: Iterable[Filter]) -> Filter:
    """Return the combined filter, or an unknown one if it would become too large."""
    made = Joined(name, form, tuple(of))
    if made.depth > DEEPEST or made.size > LARGEST:
        return Unknown(form, Gap(f"a filter of more than {DEEPEST} levels or {LARGEST} parts"))
    return made


def negated(met: Met) -> Met:
    return None if met is None else not met


def any_of(met: Iterable[Met]) -> Met:
    """Return True if one result is True. Otherwise return None if one is None, and False if none
    is."""
    known: Met = False
    for each in met:
        if each:
            return True
        if each is None:
            known = None
    return known
