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
# An observer outside saw it happen: whatever else is broken excuses nothing.
SEEN = frozenset({Verdict.CONTRADICTION, Verdict.ESCAPED})
UNDECIDED = frozenset({Verdict.HARNESS_ERROR, Verdict.NOT_MEASURED, Verdict.NOT_APPLICABLE})


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of several; a requirement without any verdict was not measured."""
    return min(verdicts, key=ORDER.index, default=Verdict.NOT_MEASURED)


class Failure(Exception):
    """The target broke what a test judges.

    why: what a baseline knows it by; without it that is `what`.
    symptom: failures that share it are shown once; without it what, expected and got decide.
    cases: how many of how many questions of one test were answered wrongly.
    asked: the request that is about, where it is not the last one.
    timed: it is about a bound of time, and the machine was not the cause.
    needs: requirements that explain this failure, where one of them is broken: it is blocked then.
    """

    def __init__(
        self,
        what: str,
        expected: str,
        got: str,
        evidence: dict[str, Any] | None = None,
        verdict: Verdict = Verdict.FAILS,
        *,
        why: str = "",
        symptom: str = "",
        cases: tuple[int, int] | None = None,
        asked: dict[str, Any] | bytes | None = None,
        timed: bool = False,
        needs: Iterable[str] = (),
    ) -> None:
        super().__init__(f"{what}: expected {expected}, got {got}")
        self.what, self.expected, self.got = what, expected, got
        self.evidence: dict[str, Any] = evidence or {}
        self.verdict = verdict
        self.why, self.symptom = why, symptom
        self.cases, self.asked = cases, asked
        self.timed = timed
        self.needs = tuple(needs)


class NotMeasured(Exception):
    """It could not be shown; the reason says why. Makes a run incomplete: see HostLacks."""


class HostLacks(NotMeasured):
    """This host has not what it takes. `feature` is what `boxspec doctor` calls it."""

    def __init__(self, feature: str, reason: str) -> None:
        super().__init__(reason)
        self.feature = feature


class Blocked(NotMeasured):
    """It cannot be decided where another requirement, one of `by`, is broken."""

    def __init__(self, by: Iterable[str], reason: str) -> None:
        super().__init__(reason)
        self.by = tuple(by)


class Late(NotMeasured):
    """Something came too late, and the machine may have been the cause: it is asked again, alone.

    hang: it did not come at all. That is not asked a third time.
    """

    def __init__(
        self,
        what: str,
        expected: str,
        got: str,
        evidence: dict[str, Any] | None = None,
        *,
        hang: bool = False,
        symptom: str = "",
    ) -> None:
        super().__init__(f"{what}: {got}")
        self.what, self.expected, self.got = what, expected, got
        self.evidence: dict[str, Any] = evidence or {}
        self.hang, self.symptom = hang, symptom

    def failure(self) -> Failure:
        return Failure(
            self.what,
            self.expected,
            self.got,
            self.evidence,
            symptom=self.symptom,
            timed=True,
        )


class NotApplicable(Exception):
    """The capabilities that the test needs, `missing`, are not declared."""

    def __init__(self, reason: str, missing: Iterable[str] = ()) -> None:
        super().__init__(reason)
        self.missing = tuple(missing)

    @classmethod
    def without(cls, *missing: str) -> NotApplicable:
        return cls(f"the shim does not declare {', '.join(missing)}", missing)


class Changed(NotApplicable):
    """What the test asks is another matter under the conditions of this run: `changed` says why,
    and another test decides what holds instead."""

    def __init__(self, changed: str) -> None:
        super().__init__(f"changed: {changed}")
        self.changed = changed


class Declared(NotApplicable):
    """What got out was declared before the run not to be held: `declared` says how (partial,
    unavailable, not enforced), `escaped` what got out. No conformance, and no broken claim."""

    def __init__(self, what: str, declared: str, escaped: str, reasons: str = "") -> None:
        because = f" ({reasons})" if reasons else ""
        super().__init__(f"{what} was declared {declared}{because}; escaped: {escaped}")
        self.declared, self.escaped = declared, escaped
