"""What a profile decides, by both readings of its precedence.

*last*: of all clauses about the operation, also those about a wider one, the last that matches.
*specific*: the narrowest operation that has a clause to the point; there the last with a filter
that matches, and only then the last without a filter. This one explains what others have measured
on Macs; the other one is what most people who write profiles think. A text on which they part is
ambiguous.
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
    """What one reading says. `clause` decides; None: nothing matched, which is a denial."""

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
        """Only where both readings say so."""
        return self.outcome is Outcome.ALLOW

    @property
    def gaps(self) -> list[Gap]:
        """The forms without which it would be decided, where it is undecidable."""
        clauses = [*self.last.unknown, *self.specific.unknown]
        return [gap for each in clauses if each.filter is not None for gap in each.filter.unknown()]


# What is asked of the clauses in turn, for one operation.
Plan = tuple[list[Clause], list[Clause]]


class Decider:
    """A profile that is asked many questions."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.plans: dict[str, Plan] = {}

    def plan(self, operation: str) -> Plan:
        """The clauses in the order in which each reading asks them; the first that matches wins."""
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
        """Several operations on one subject: each filter is tried once."""
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
    """The first that matches; one before it of which that is not known may decide otherwise."""
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
