"""Define the verdicts, from worst to best, and the exceptions by which a test reports them."""

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


# All verdicts from worst to best, as they are declared.
ORDER: tuple[Verdict, ...] = tuple(Verdict)

# With these verdicts the implementation breaks the requirement.
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
# Verdicts for which an observer outside saw an effect. A broken other requirement never excuses
# them.
OBSERVED = frozenset({Verdict.CONTRADICTION, Verdict.ESCAPED})
UNDECIDED = frozenset({Verdict.HARNESS_ERROR, Verdict.NOT_MEASURED, Verdict.NOT_APPLICABLE})


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of several verdicts. Without any verdict, the requirement was not
    measured."""
    return min(verdicts, key=ORDER.index, default=Verdict.NOT_MEASURED)


class Failure(Exception):
    """Raised by a test if the implementation breaks the requirement that the test decides.

    why: the reason as a baseline stores it; by default the property that was checked.
    symptom: failures with the same symptom are shown once; by default it consists of property,
        expected and actual value.
    cases: (failed, total) questions, if the test asks several.
    asked: the request that the failure block shows; by default the last request.
    timed: True if a time limit was exceeded by more than the scheduling delay.
    short: True if the excess is so short that a delay which no counter shows may explain it.
    needs: requirements that explain this failure. If one of them is broken, this failure counts as
        blocked.
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
        short: bool = False,
        needs: Iterable[str] = (),
    ) -> None:
        super().__init__(f"{what}: expected {expected}, got {got}")
        self.what, self.expected, self.got = what, expected, got
        self.evidence: dict[str, Any] = evidence or {}
        self.verdict = verdict
        self.why, self.symptom = why, symptom
        self.cases, self.asked = cases, asked
        self.timed, self.short = timed, short
        self.needs = tuple(needs)


class NotMeasured(Exception):
    """Raised if a test could not decide.

    The run is incomplete then, unless the host lacks a feature.
    """


class HostLacks(NotMeasured):
    """Raised if this host lacks a feature; `feature` is its name in `boxspec doctor`."""

    def __init__(self, feature: str, reason: str) -> None:
        super().__init__(reason)
        self.feature = feature


class Blocked(NotMeasured):
    """Raised if a test cannot decide because one of the requirements `by` is broken."""

    def __init__(self, by: Iterable[str], reason: str) -> None:
        super().__init__(reason)
        self.by = tuple(by)


class Late(NotMeasured):
    """Raised if a time limit was exceeded and scheduling delay may be the cause.

    The test is repeated then.
    hang: True if the awaited event did not happen at all. Then the test is repeated only once.
    unexplained: True if no measured delay explains the excess. Two such attempts are a failure.
    """

    def __init__(
        self,
        what: str,
        expected: str,
        got: str,
        evidence: dict[str, Any] | None = None,
        *,
        hang: bool = False,
        unexplained: bool = False,
        symptom: str = "",
    ) -> None:
        super().__init__(f"{what}: expected {expected}, got {got}")
        self.what, self.expected, self.got = what, expected, got
        self.evidence: dict[str, Any] = evidence or {}
        self.hang, self.symptom = hang, symptom
        self.unexplained = unexplained

    @classmethod
    def delayed(cls, why: Failure, waited_ms: float) -> Late:
        """Return this failure as one whose cause may be the delay."""
        evidence = {**why.evidence, "waited_ms": round(waited_ms, 3)}
        return cls(why.what, why.expected, why.got, evidence)

    @classmethod
    def once(cls, why: Failure) -> Late:
        """Return Late for a short excess, which counts only if it shows again."""
        return cls(why.what, why.expected, why.got, why.evidence, unexplained=True)

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
    """Raised if the shim does not declare the capabilities `missing`, which the test needs."""

    def __init__(self, reason: str, missing: Iterable[str] = ()) -> None:
        super().__init__(reason)
        self.missing = tuple(missing)

    @classmethod
    def without(cls, *missing: str) -> NotApplicable:
        return cls(f"the shim does not declare {', '.join(missing)}", missing)


class Changed(NotApplicable):
    """Raised if another test replaces this test under the conditions of the run.

    changed: the reason for the replacement.
    """

    def __init__(self, changed: str) -> None:
        super().__init__(f"changed: {changed}")
        self.changed = changed


class Declared(NotApplicable):
    """Raised for an escape through a gap that the implementation declared before the run.

    The requirement of the test then neither conforms nor breaks a claim.
    aspect: the aspect that was not claimed fully, for example `network`, or a rule.
    declared: how the gap was declared: partial, unavailable or not enforced.
    escaped: the escape that was seen.
    """

    def __init__(self, aspect: str, declared: str, escaped: str, reasons: str = "") -> None:
        because = f" ({reasons})" if reasons else ""
        super().__init__(f"{aspect} was declared {declared}{because}; escaped: {escaped}")
        self.aspect, self.declared, self.escaped = aspect, declared, escaped
