"""Decide an operation by a profile, by both readings of precedence.

*last*: the last matching clause decides, among all clauses about the operation or a wider one.
*specific*: the narrowest operation with an applicable clause decides; there the last clause whose
filter matches, and otherwise the last clause without a filter. This reading explains published
measurements on Macs; *last* is what most authors of profiles expect. A text for which the two
readings differ is ambiguous.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from contracts.sbpl.seatbelt.filters import NOTHING, Gap, Met, Subject
from contracts.sbpl.seatbelt.forms import Clause, Profile
from contracts.sbpl.seatbelt.operations import DEFAULT, chain, is_execution
from contracts.sbpl.seatbelt.regexes import TooDear


class Outcome(StrEnum):
    ALLOW = "allow"
    DENY = "deny"
    AMBIGUOUS = "ambiguous"
    UNDECIDABLE = "undecidable"


def outcome(allow: bool) -> Outcome:
    return Outcome.ALLOW if allow else Outcome.DENY


@dataclass(frozen=True)
class Reading:
    """The decision of one reading by `clause`, or a denial without one if no clause matched."""

    outcome: Outcome
    clause: Clause | None
    unknown: tuple[Clause, ...] = ()


@dataclass(frozen=True)
class Ruling:
    outcome: Outcome
    last: Reading
    specific: Reading
    why: str = ""

    @property
    def allowed(self) -> bool:
        """True only if both readings allow."""
        return self.outcome is Outcome.ALLOW

    @property
    def gaps(self) -> list[Gap]:
        """Return the unknown forms that make the operation undecidable."""
        clauses = [*self.last.unknown, *self.specific.unknown]
        return [gap for each in clauses if each.filter is not None for gap in each.filter.unknown()]


# The clauses for one operation in the order of each reading: last, specific.
Plan = tuple[list[Clause], list[Clause]]


class Decider:
    """Decides many operations by one profile."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.plans: dict[str, Plan] = {}

    def plan(self, operation: str) -> Plan:
        """Return the clauses in the order of each reading; the first one that matches decides."""
        made = self.plans.get(operation)
        if made is not None:
            return made
        names = chain(operation)
        back = self.profile.clauses[::-1]
        last = [each for each in back if not set(names).isdisjoint(each.operations)]
        specific = []
        for name in names:
            exact = [each for each in back if name in each.operations]
            specific += [each for each in exact if each.filter is not None]
            specific += [each for each in exact if each.filter is None][:1]
        self.plans[operation] = last, specific
        return last, specific

    def decide(self, operation: str, subject: Subject = NOTHING) -> Ruling:
        return self.decide_all([operation], subject)[operation]

    def decide_all(
        self, operations: Iterable[str], subject: Subject = NOTHING
    ) -> dict[str, Ruling]:
        """Decide several operations on one subject, with one evaluation of each filter."""
        met: dict[int, Met] = {}
        return {operation: self._rule(operation, subject, met) for operation in operations}

    def _rule(self, operation: str, subject: Subject, met: dict[int, Met]) -> Ruling:
        try:
            last, specific = (_first(clauses, subject, met) for clauses in self.plan(operation))
        except TooDear:
            dear = Reading(Outcome.UNDECIDABLE, None)
            return Ruling(dear.outcome, dear, dear, "the regular expressions cost too much")
        if is_execution(operation):
            return Ruling(
                Outcome.UNDECIDABLE, last, specific, "execution depends on more than files"
            )
        for reading in (last, specific):
            if reading.outcome is Outcome.UNDECIDABLE:
                return Ruling(reading.outcome, last, specific, _why(reading, subject))
        if last.outcome is not specific.outcome:
            return Ruling(Outcome.AMBIGUOUS, last, specific, "the two readings part")
        return Ruling(last.outcome, last, specific)


def _first(clauses: Iterable[Clause], subject: Subject, met: dict[int, Met]) -> Reading:
    """Return the reading by the first clause that matches.

    It is undecidable if a clause before it, with an unknown result, would decide differently.
    """
    unknown: list[Clause] = []
    for clause in clauses:
        matches: Met = True
        if clause.filter is not None:
            key = id(clause)
            if key not in met:
                met[key] = clause.filter.meets(subject)
            matches = met[key]
        if matches is None:
            unknown.append(clause)
        elif matches:
            return _among(clause.allow, clause, unknown)
    return _among(False, None, unknown)


def _among(allow: bool, clause: Clause | None, unknown: list[Clause]) -> Reading:
    others = tuple(each for each in unknown if each.allow is not allow)
    if others:
        return Reading(Outcome.UNDECIDABLE, clause, others)
    return Reading(outcome(allow), clause)


def _why(reading: Reading, subject: Subject) -> str:
    clause = reading.unknown[0]
    assert clause.filter is not None
    gaps = clause.filter.unknown()
    what = gaps[0].words if gaps else f"whether the filter of {str(clause)[:120]} meets"
    return f"line {clause.line}: {what} is not known here"


__all__ = ["DEFAULT", "Decider", "Outcome", "Reading", "Ruling", "Subject"]
