"""Read the calls of generated programs from fixtures/programs/steps/calls.def."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from boxspec.errors import HarnessError
from boxspec.programs import SOURCES

DEFINITIONS = SOURCES / "steps" / "calls.def"
NONE, ANY = "none", "any"
_TEXT = r'"((?:[^"\\]|\\.)*)"'
_PICK = re.compile(rf"PICK\((\w+), {_TEXT}, (.+)\)")
_TARGET = re.compile(rf"TARGET\((\w+), (\d+), {_TEXT}\)")
_VIA = re.compile(rf"VIA\((\d+), {_TEXT}, (.+)\)")
_CALL = re.compile(rf"CALL\((\w+), (\w+), (\w+), (\w+), {_TEXT}, (.+)\)")
_LIST = re.compile(r"\{m:(\w+)\}")

Judged = Literal["EFFECT", "SURFACE", "OPENED"]


@dataclass(frozen=True)
class Operation:
    """One kind of call.

    words: its text, with {p}, {q}, {s} and {m:list} for its operands.
    takes: the kind of descriptor that the call uses.
    makes: the kind of descriptor that the call returns.
    expression: the call in C.
    """

    number: int
    name: str
    judged: Judged
    takes: str
    makes: str
    words: str
    expression: str

    @property
    def choices(self) -> str:
        """Return the name of the list from which the operand m is chosen, or ""."""
        found = _LIST.search(self.words)
        return found[1] if found else ""

    def uses(self, operand: str) -> bool:
        return f"{{{operand}}}" in self.words


@dataclass(frozen=True)
class Weighted:
    """A path of the scene, or a spelling of a path (`value` is the C of its prefix)."""

    name: str
    weight: int
    words: str
    value: str = ""


@dataclass(frozen=True)
class Pick:
    words: str
    value: str


@dataclass(frozen=True)
class Table:
    operations: tuple[Operation, ...]
    targets: tuple[Weighted, ...]
    vias: tuple[Weighted, ...]
    picks: dict[str, tuple[Pick, ...]]

    def named(self, name: str) -> Operation:
        return next(each for each in self.operations if each.name == name)


@cache
def table() -> Table:
    """Read the list; raise HarnessError at a line that has another form."""
    operations: list[Operation] = []
    targets: list[Weighted] = []
    vias: list[Weighted] = []
    picks: dict[str, tuple[Pick, ...]] = {}
    for line in DEFINITIONS.read_text(encoding="utf-8").splitlines():
        if found := _CALL.fullmatch(line):
            name, judged, takes, makes, words, expression = found.groups()
            number = len(operations)
            known: Judged = judged  # type: ignore[assignment]
            operations.append(Operation(number, name, known, takes, makes, words, expression))
        elif found := _TARGET.fullmatch(line):
            targets.append(Weighted(found[1], int(found[2]), found[3]))
        elif found := _VIA.fullmatch(line):
            vias.append(Weighted(found[2], int(found[1]), found[2], found[3]))
        elif found := _PICK.fullmatch(line):
            picks[found[1]] = (*picks.get(found[1], ()), Pick(found[2], found[3]))
        elif line.startswith(("CALL", "TARGET", "VIA", "PICK")):
            raise HarnessError(f"{DEFINITIONS}: a line that cannot be read: {line}")
    return Table(tuple(operations), tuple(targets), tuple(vias), picks)
