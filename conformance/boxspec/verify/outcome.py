"""The results of the starts, on which verdicts are based."""

from __future__ import annotations

from dataclasses import dataclass, field

from boxspec.verify.confinement import UNKNOWN
from boxspec.verify.row import Record, Row

NO_END = "the command did not end"
# The id of a row, and the number of the attempt or line in that row. This key is the same in each
# scene.
Key = tuple[str, int]


@dataclass
class Tried:
    """The result of one attempt or of one line.

    effects: the observed effects.
    way, shared: see Attempt.
    doubt: why the absence of an effect is uncertain, or "".
    gone: True if the command has moved the file that was tried, or has removed its content.
    """

    shown: str
    effects: list[str]
    way: str = ""
    record: Record | None = None
    group: str = ""
    unclear: bool = False
    gone: bool = False
    shared: bool = False
    doubt: str = ""


@dataclass
class Outcome:
    """The results of all starts of one kind.

    problem: why missing effects are no evidence.
    cannot: the reason for each row that could not be tested.
    confinement: the namespaces and privileges of the program that made the attempts.
    """

    tried: dict[Key, Tried] = field(default_factory=dict)
    problem: str = ""
    ran: bool = False
    cannot: dict[str, str] = field(default_factory=dict)
    output: str = ""
    confinement: frozenset[str] = UNKNOWN

    @property
    def hangs(self) -> bool:
        """True if the command did not end in time."""
        return self.problem.startswith(NO_END)

    def of(self, row: Row) -> dict[Key, Tried]:
        return {key: each for key, each in self.tried.items() if key[0] == row.id}


@dataclass
class Both:
    """The results without the command, which are the control, and the results with it."""

    control: Outcome
    inside: Outcome
