"""Rows: each row is one expectation of a command, with the attempts that check it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from boxspec.subject.observe.probes import ProbeResult
from boxspec.verify.paths import Place

if TYPE_CHECKING:
    from boxspec.verify.scene import Scene

DEFAULT = "default"
# A probe without effects outside.
IDLE = "o_pipes"
# A function that returns the observed effects of an attempt, one line for each. The list is empty
# if the attempt had no effect.
Effects = Callable[[ProbeResult], list[str]]


def no_effect(_: ProbeResult) -> list[str]:
    """Return no effect. The kit looks for the files that such an attempt makes."""
    return []


class Status(Enum):
    """The status of a row. The statuses are in the order of the table."""

    LEAKED = "LEAKED"
    BLOCKED = "blocked too much"
    NOT_TESTED = "not tested"
    HELD = "held"


@dataclass
class Attempt:
    """One attempt of one probe.

    late: the attempt changes mounts or folders that other attempts use, so it comes last.
    group: attempts with the same `group` belong together. If the row expects success, one success
        in each group is enough.
    unclear: the program reports success, but its file may be a copy inside the sandbox. So success
        without an observed effect proves nothing.
    after_start: the attempt waits until the kit has made the late decoys.
    is_there: a function that returns True if the file still has its content. If the command removes
        the file, a failed attempt does not show that the command keeps programs out.
    shared: other programs of the host may have the same effects, so they count only if further
        starts confirm them (host.py).
    way: how the attempt reaches its object; empty if it simply opens the object. The evidence names
        the way if no simpler attempt had the effect.
    """

    probe: str
    shown: str
    params: dict[str, object]
    effects: Effects
    late: bool = False
    group: str = ""
    unclear: bool = False
    after_start: bool = False
    is_there: Callable[[], bool] | None = None
    shared: bool = False
    way: str = ""
    id: str = field(default_factory=lambda: secrets.token_hex(6))


@dataclass
class Line:
    """A line for an ordinary shell. It attempts the same as a probe.

    A line has a control only if it must work.
    """

    text: str
    shown: str
    effects: Callable[[bytes], list[str]]


class Target:
    """One object that a row is about. If this host cannot test it, its methods raise
    UntestableError.

    link: makes the links among the decoys, before all other decoys.
    furnish: makes the decoys in a scene.
    attempts: makes the decoys and returns the attempts of the probe program.
    lines: makes the decoys and returns the lines for a shell.
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
    """One expectation of a command.

    allowed: the attempts must work. In other rows the command must prevent their effects.
    terminal, idle, apart, planted: the row needs a separate start: at a terminal, without any
        attempt, with its own network, or after a program inside has made files.
    passes_without_sandbox: programs usually have no effect here without a sandbox either, so a held
        row proves little.
    repeat: the words of the command line that test this row again.
    cannot: why the row cannot be tested.
    absent: places that are missing in one more start.
    absent_targets: the targets that are tested in that start.
    family: held default rows with the same family share one line of the table.
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
    planted: bool = False
    absent: tuple[Place, ...] = ()
    absent_targets: tuple[Target, ...] = ()
    family: str = ""

    @property
    def usual(self) -> bool:
        """True for a default row."""
        return self.origin == DEFAULT


@dataclass(frozen=True)
class Record:
    """The report of the probe program about one attempt.

    ended: how the process of the attempt ended.
    output: the text from which `result` was read.
    """

    ended: str
    result: ProbeResult
    output: str = ""
