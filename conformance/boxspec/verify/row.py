"""Rows: what is expected of a command, and the attempts that ask it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from boxspec.subject.observe.probes import Said

if TYPE_CHECKING:
    from boxspec.verify.scene import Scene

# What an observer saw of an attempt, one line each; empty if nothing happened.
Effects = Callable[[Said], list[str]]


class Status(Enum):
    """In the order of the table."""

    LEAKED = "LEAKED"
    BLOCKED = "blocked too much"
    NOT_TESTED = "not tested"
    HELD = "held"


@dataclass
class Attempt:
    """One attempt of one probe.

    late: it may change what later attempts meet, so it comes last. group: of the attempts of a
    group one success is enough where the row expects that something works. unclear: a success
    without an effect proves nothing, because the file may be a copy.
    """

    probe: str
    shown: str
    params: dict[str, object]
    effects: Effects
    late: bool = False
    group: str = ""
    unclear: bool = False
    id: str = field(default_factory=lambda: secrets.token_hex(6))


@dataclass
class Line:
    """The same question by an ordinary shell. Only a line that must work has a control."""

    text: str
    shown: str
    effects: Callable[[bytes], list[str]]


class Target(Protocol):
    """One thing that a row is about. It puts its decoys into the scene, and its attempts name them.
    Raises UntestableError if it cannot be asked on this host."""

    def attempts(self, scene: Scene) -> list[Attempt]: ...

    def lines(self, scene: Scene) -> list[Line]: ...


@dataclass(frozen=True)
class Row:
    """One expectation. allowed: that its targets work; otherwise that they are kept out.

    repeat: the words of the command line that ask this row again. cannot: why it is not asked.
    """

    id: str
    title: str
    weight: int
    origin: str
    repeat: tuple[str, ...]
    targets: tuple[Target, ...] = ()
    allowed: bool = False
    cannot: str = ""
    terminal: bool = False
