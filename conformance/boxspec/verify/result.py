"""The result of a verification: a verdict for each row."""

from __future__ import annotations

from dataclasses import dataclass

from boxspec.verify.row import Row, Status


@dataclass(frozen=True)
class Verdict:
    """The verdict on one row.

    evidence: the observations, for people.
    attempts: how many attempts had their effect without the command.
    """

    row: Row
    status: Status
    evidence: tuple[str, ...]
    attempts: int = 0


@dataclass(frozen=True)
class Verification:
    """The result of a verification.

    starts: how often the command was started.
    flags: the options that are needed to test a row again.
    product: name and version of the command, if it prints them.
    """

    command: tuple[str, ...]
    started: str
    seconds: float
    starts: int
    verdicts: tuple[Verdict, ...]
    flags: tuple[str, ...] = ()
    product: str = ""
    rules: tuple[dict[str, object], ...] = ()

    def count(self, status: Status) -> int:
        return sum(each.status is status for each in self.verdicts)

    @property
    def exit_status(self) -> int:
        if self.count(Status.LEAKED) or self.count(Status.BLOCKED):
            return 1
        return 3 if self.count(Status.NOT_TESTED) else 0
