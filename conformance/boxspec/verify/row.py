"""Rows: one expectation of a command each, and the attempts that check it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from boxspec.subject.observe.probes import Said

if TYPE_CHECKING:
    from boxspec.verify.scene import Scene

# The observed effects of an attempt, one line each; empty if it had no effect.
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

    late: the attempt changes the mounts or folders of other attempts, so it comes last. group: one
    success is enough among the attempts of a group, in a row that expects success. unclear: a
    success without an effect proves neither way, because the file may be a copy.
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


class Target:
    """One thing that a row is about. Its methods raise UntestableError if this host cannot ask it.

    furnish: put the decoys into a scene. attempts, lines: the same, and return the attempts of the
    probe program, or the lines for a shell.
    """

    def furnish(self, scene: Scene) -> None:
        return None

    def attempts(self, scene: Scene) -> list[Attempt]:
        return []

    def lines(self, scene: Scene) -> list[Line]:
        return []


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


@dataclass(frozen=True)
class Record:
    """The report of the probe program about one attempt. ended: the end of its process."""

    ended: str
    said: Said
