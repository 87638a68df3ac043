"""Rows: one expectation of a command each, and the attempts that check it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from boxspec.subject.observe.probes import Said
from boxspec.verify.paths import Place

if TYPE_CHECKING:
    from boxspec.verify.scene import Scene

DEFAULT = "default"
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
        success without an effect proves neither way, because the file may be a copy. after_start:
        it waits until the kit has made the files that are new since the start.
    """

    probe: str
    shown: str
    params: dict[str, object]
    effects: Effects
    late: bool = False
    group: str = ""
    unclear: bool = False
    after_start: bool = False
    id: str = field(default_factory=lambda: secrets.token_hex(6))


@dataclass
class Line:
    """The same question by an ordinary shell. Only a line that must work has a control."""

    text: str
    shown: str
    effects: Callable[[bytes], list[str]]


class Target:
    """One thing that a row is about. Its methods raise UntestableError if this host cannot ask it.

    link: make the links among the decoys, first of all. furnish: put the decoys into a scene.
    attempts, lines: the same, and return the attempts of the probe program, or the lines for a
        shell.
    """

    def link(self, scene: Scene) -> None:
        return None

    def furnish(self, scene: Scene) -> None:
        return None

    def attempts(self, scene: Scene) -> list[Attempt]:
        return []

    def lines(self, scene: Scene) -> list[Line]:
        return []


@dataclass(frozen=True)
class Row:
    """One expectation. allowed: its targets must work; otherwise the command must keep programs
    away from them. terminal, idle, apart: asked in a start of its own: at a terminal, without any
    attempt, or in a network of this start. passes_without_sandbox: without a sandbox a program
    usually has no effect here either, so that a held row proves little.

    repeat: the words of the command line that ask this row again. cannot: why it is not asked.
    absent: the places that do not exist in one more start, and the targets that are asked there.
    family: held default rows of one family share a line of the table.
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
    idle: bool = False
    passes_without_sandbox: bool = False
    apart: bool = False
    absent: tuple[Place, ...] = ()
    absent_targets: tuple[Target, ...] = ()
    family: str = ""

    @property
    def usual(self) -> bool:
        """True for a default row."""
        return self.origin == DEFAULT


@dataclass(frozen=True)
class Record:
    """The report of the probe program about one attempt. ended: the end of its process."""

    ended: str
    said: Said
