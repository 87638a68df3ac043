"""Verdicts, their order from worst to best, and the exceptions that carry them out of a test."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    CONTRADICTION = "contradiction"
    ESCAPED = "escaped"
    FAILS = "fails"
    OVERREFUSED = "overrefused"
    WRONG_REASON = "wrong-reason"
    UNPROVEN = "unproven"
    HARNESS_ERROR = "harness-error"
    NOT_MEASURED = "not-measured"
    NOT_APPLICABLE = "not-applicable"
    CONFORMS = "conforms"


# The declaration above is the order "the worst wins"; an enum keeps it.
ORDER: tuple[Verdict, ...] = tuple(Verdict)

# The verdicts that say: the target broke the requirement.
BROKEN = frozenset(
    {
        Verdict.CONTRADICTION,
        Verdict.ESCAPED,
        Verdict.FAILS,
        Verdict.OVERREFUSED,
        Verdict.WRONG_REASON,
        Verdict.UNPROVEN,
    }
)
UNDECIDED = frozenset({Verdict.HARNESS_ERROR, Verdict.NOT_MEASURED, Verdict.NOT_APPLICABLE})


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of several; a requirement without any verdict was not measured."""
    return min(verdicts, key=ORDER.index, default=Verdict.NOT_MEASURED)


class Failure(Exception):
    """The target broke what a test judges."""

    def __init__(
        self,
        what: str,
        expected: str,
        got: str,
        evidence: dict[str, Any] | None = None,
        verdict: Verdict = Verdict.FAILS,
        *,
        late: bool = False,
    ) -> None:
        super().__init__(f"{what}: expected {expected}, got {got}")
        self.what, self.expected, self.got = what, expected, got
        self.evidence: dict[str, Any] = evidence or {}
        self.verdict = verdict
        # Something took too long: this may also be said of a machine that was busy.
        self.late = late


class NotMeasured(Exception):
    """This host cannot show it; the reason names what is missing."""


class NotApplicable(Exception):
    """The capability that the test needs is not declared."""
