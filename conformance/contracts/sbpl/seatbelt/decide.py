"""Decide an operation by a profile, under both readings of precedence.

*last*: of all clauses about the operation or a wider one, the last one that matches decides. Most
    authors of profiles expect this.

*specific*: only clauses about the narrowest operation with an applicable clause count. Of its
    clauses with a filter, the last one that matches decides. If no filter matches, its last clause
    without a filter decides. Published measurements on Macs agree with this reading.

If the two readings decide differently, the text is ambiguous.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from contracts.sbpl.seatbelt.filters import NOTHING, Gap, Met, Subject
from contracts.sbpl.seatbelt.forms import Clause, Profile
from contracts.sbpl.seatbelt.operations import DEFAULT, chain, chain_with
from contracts.sbpl.seatbelt.regexes import BudgetExceeded


class Outcome(StrEnum):
    ALLOW = "allow"
    DENY = "deny"
    AMBIGUOUS = "ambiguous"
    UNDECIDABLE = "undecidable"


def outcome(allow: bool) -> Outcome:
    return Outcome.ALLOW if allow else Outcome.DENY


@dataclass(frozen=True)
class Reading:
    """The decision of one reading, and the clause that made it.

    If no clause matches, `clause` is None and the decision is a denial.
    """

    outcome: Outcome
    clause: Clause | None
    unknown: tuple[Clause, ...] = ()

    @property
    def otherwise(self) -> Outcome:
        """Return the decision if no unknown clause matches."""
        return outcome(self.clause is not None and bool(self.clause.allow))


@dataclass(frozen=True)
class Decision:
    outcome: Outcome
    last: Reading
    specific: Reading
    why: str = ""
    subject: Subject = NOTHING

    @property
    def allowed(self) -> bool:
        """True only if both readings allow."""
        return self.outcome is Outcome.ALLOW

    @property
    def gaps(self) -> list[Gap]:
        """Return the unknown forms that make the operation undecidable."""
        clauses = [*self.last.unknown, *self.specific.unknown]
        return [gap for each in clauses if each.filter is not None for gap in each.filter.unknown()]


# A clause, and True if the clause certainly applies to the operation. False means that the clause
# names an unknown operation, which may include this one. A plan has two lists of clauses for one
# operation, in the order of the readings *last* and *specific*.
Candidate = tuple[Clause, bool]
Plan = tuple[list[Candidate], list[Candidate]]


class Decider:
    """Decides many operations by one profile."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.unknown_operations = profile.unknown_operations()
        self.plans: dict[str, Plan] = {}
        # All plans, by the identities of their clauses. Operations with the same clauses share a
        # plan, for example most kinds of writing.
        self.shared: dict[tuple[object, ...], Plan] = {}

    def chain(self, operation: str) -> tuple[str, ...]:
        if not self.unknown_operations:
            return chain(operation)
        return chain_with(operation, self.unknown_operations)

    def plan(self, operation: str) -> Plan:
        """Return the clauses in the order of each reading. The first clause that matches
        decides."""
        made = self.plans.get(operation)
        if made is not None:
            return made
        names = self.chain(operation)
        sure = frozenset(chain(operation))
        back = self.profile.clauses[::-1]
        last = [
            (each, not sure.isdisjoint(each.operations))
            for each in back
            if not set(names).isdisjoint(each.operations)
        ]
        specific: list[Candidate] = []
        for name in names:
            exact = [(each, name in sure) for each in back if name in each.operations]
            specific += [each for each in exact if each[0].filter is not None]
            specific += [each for each in exact if each[0].filter is None][:1]
        key = tuple(tuple((id(each), certain) for each, certain in way) for way in (last, specific))
        plan = self.plans[operation] = self.shared.setdefault(key, (last, specific))
        return plan

    def decide(self, operation: str, subject: Subject = NOTHING) -> Decision:
        return self.decide_all([operation], subject)[operation]

    def decide_all(
        self, operations: Iterable[str], subject: Subject = NOTHING
    ) -> dict[str, Decision]:
        """Decide several operations on one subject. Each filter and plan is evaluated only
        once."""
        met: dict[int, Met] = {}
        made: dict[int, Decision] = {}
        decisions = {}
        for operation in operations:
            plan = self.plan(operation)
            if id(plan) not in made:
                made[id(plan)] = _decision(plan, subject, met)
            decisions[operation] = made[id(plan)]
        return decisions


def _decision(plan: Plan, subject: Subject, met: dict[int, Met]) -> Decision:
    try:
        last, specific = (_first(clauses, subject, met) for clauses in plan)
    except BudgetExceeded:
        undecided = Reading(Outcome.UNDECIDABLE, None)
        why = "the regular expressions cost too much"
        return Decision(undecided.outcome, undecided, undecided, why, subject)
    for reading in (last, specific):
        if reading.outcome is Outcome.UNDECIDABLE:
            return Decision(reading.outcome, last, specific, _why(reading, subject), subject)
    if last.outcome is not specific.outcome:
        why = "the two readings differ"
        return Decision(Outcome.AMBIGUOUS, last, specific, why, subject)
    return Decision(last.outcome, last, specific, subject=subject)


def _first(candidates: Iterable[Candidate], subject: Subject, met: dict[int, Met]) -> Reading:
    """Return the reading in which the first matching clause decides.

    The reading is undecidable if an earlier clause may match and would decide differently.
    """
    unknown: list[Clause] = []
    for clause, sure in candidates:
        matches: Met = True
        if clause.filter is not None:
            key = id(clause)
            if key not in met:
                met[key] = clause.filter.meets(subject)
            matches = met[key]
        if matches is None or (matches and not sure):
            unknown.append(clause)
        elif matches and clause.allow is not None:
            return _among(clause.allow, clause, unknown)
    return _among(False, None, unknown)


def _among(allow: bool, clause: Clause | None, unknown: list[Clause]) -> Reading:
    others = tuple(each for each in unknown if each.allow is not allow)
    if others:
        return Reading(Outcome.UNDECIDABLE, clause, others)
    return Reading(outcome(allow), clause)


def _why(reading: Reading, subject: Subject) -> str:
    clause = reading.unknown[0]
    gap = _gap(clause, subject)
    if gap is not None and gap.words.startswith("the name "):
        # A file that is not imported may define the name.
        others = ((each, _gap(each, subject)) for each in reading.unknown)
        imported = (pair for pair in others if pair[1] and pair[1].fact.startswith("import "))
        clause, gap = next(imported, (clause, gap))
    if gap is None:
        if clause.filter is None or clause.filter.meets(subject):
            what = f"whether {' '.join(clause.operations)} includes the operation"
        else:
            what = f"whether the filter of {str(clause)[:120]} matches"
        return f"{clause.place}: {what} is not known here"
    if gap.fact.startswith("import "):
        name = gap.fact.removeprefix("import ")
        return f"{clause.place}: {gap.words} is not known here; pass --import {name}=FILE"
    if gap.fact:
        remedy = f"--given {gap.fact}=VALUE"
        if gap.fact.endswith("address"):
            side = gap.fact.split()[1]
            remedy = "HOST:PORT or a path after the operation"
            if subject.is_on_ip:
                remedy = f"--given {side}=HOST:PORT"
        return f"{clause.place}: {gap.words} looks at {gap.fact}, which is not given; {remedy}"
    return f"{clause.place}: {gap.words} is not known here"


def _gap(clause: Clause, subject: Subject) -> Gap | None:
    gaps = clause.filter.unknown() if clause.filter is not None else []
    return next((each for each in gaps if each.fact not in subject.facts), None)


__all__ = ["DEFAULT", "Decider", "Decision", "Outcome", "Reading", "Subject"]
