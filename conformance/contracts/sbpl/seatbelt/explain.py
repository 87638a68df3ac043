"""`boxspec sbpl explain`: show the clause that decides."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.printable import one_line
from contracts.sbpl.seatbelt import reported
from contracts.sbpl.seatbelt.decide import Decider, Decision, Outcome, Reading
from contracts.sbpl.seatbelt.filters import Joined, Subject
from contracts.sbpl.seatbelt.forms import Clause
from contracts.sbpl.seatbelt.operations import canonical, is_execution
from contracts.sbpl.seatbelt.question import is_asked, opened, subject_of
from contracts.sbpl.seatbelt.reader import Symbol

ALLOWED, OTHERWISE = 0, 3
SHOWN = 400


def explain(
    file: Path,
    operation: str,
    subject: str | None,
    params: Mapping[str, str],
    imports: Mapping[str, str],
    *,
    param_file: str | None = None,
    given: Mapping[str, str] | None = None,
) -> int:
    """Print the decision; return 0 if allowed, 3 if denied, ambiguous or undecidable."""
    profile = opened(file, params, param_file, imports)
    if not is_asked(profile, operation):
        raise UsageError(
            operation, "is not a known operation of Seatbelt", "for example file-write-create"
        )
    asked = subject_of(operation, subject, given or {})
    decider = Decider(profile)
    decision = decider.decide(operation, asked)
    sys.stdout.write(described(decider, decision, operation, subject))
    return ALLOWED if decision.allowed else OTHERWISE


def described(decider: Decider, decision: Decision, operation: str, subject: str | None) -> str:
    words = " ".join(filter(None, (decision.outcome.value, operation, subject)))
    why = f"  ({decision.why})" if decision.why else ""
    lines = [f"{words}{why}"]
    show = _Shown(decider, operation, decision)
    if (decision.last.outcome, decision.last.clause) == (
        decision.specific.outcome,
        decision.specific.clause,
    ):
        lines += show.reading("both readings", decision.last)
    else:
        lines += show.reading("the last that matches", decision.last)
        lines += show.reading("the most specific", decision.specific)
    marks = [*notes(decider, decision, operation), *remarks(decider)]
    lines += [f"  {'note':<22} {each}" for each in marks]
    return "".join(f"{one_line(line)}\n" for line in lines)


def remarks(decider: Decider) -> list[str]:
    """Return warnings about the whole profile, one per line."""
    version = decider.profile.version
    if version is None:
        return []
    return [f"line {version.line}: {version} is read by the rules of (version 1)"]


def notes(decider: Decider, decision: Decision, operation: str) -> list[str]:
    """Return warnings about a decision, one per line."""
    found = []
    for clause in (decision.last.clause, decision.specific.clause):
        if clause is not None and is_execution(operation) and clause.allow:
            if {"no-sandbox", "no-profile"} & set(clause.modifiers):
                found.append(f"{clause.place}: the program would run without a sandbox")
            break
    if is_execution(operation) and decision.allowed:
        found.append("a program also needs file-read-data and file-map-executable to start")
    if decision.outcome in (Outcome.ALLOW, Outcome.DENY):
        unknown = {*decision.last.unknown, *decision.specific.unknown}
        found += [
            f"{each.place}: {_words(each)} is not known here; it decides only if it has a clause"
            " about a narrower operation"
            for each in decider.profile.clauses
            if each.allow is None and each.operations == ("default",) and each not in unknown
        ]
        found += _without_extension(decider, decision, operation)
    return [*found, *reported.notes(decider, decision, operation)]


def _without_extension(decider: Decider, decision: Decision, operation: str) -> list[str]:
    """Return a note if the decision is only right for a program without extensions."""
    if decision.subject.facts.get("extension") != ():
        return []
    facts = {name: value for name, value in decision.subject.facts.items() if name != "extension"}
    other = decider.decide(operation, replace(decision.subject, facts=facts))
    if other.outcome is not Outcome.UNDECIDABLE:
        return []
    clause = next(iter((*other.last.unknown, *other.specific.unknown)))
    return [f"{clause.place}: the program is assumed to have no extension; --given extension=NAME"]


def _words(clause: Clause) -> str:
    gaps = clause.filter.unknown() if clause.filter is not None else []
    return gaps[0].words if gaps else str(clause)[:80]


class _Shown:
    def __init__(self, decider: Decider, operation: str, decision: Decision) -> None:
        self.chain = decider.chain(operation)
        self.subject = decision.subject

    def reading(self, name: str, reading: Reading) -> list[str]:
        maybe = [f"  {name:<22} maybe {self.clause(each)}" for each in reading.unknown]
        if reading.clause is not None:
            return [*maybe, f"  {name:<22} {self.clause(reading.clause)}"]
        return [*maybe, f"  {name:<22} no clause matches, which is a denial"]

    def clause(self, clause: Clause) -> str:
        return f"{clause.place}: {shortened(clause, self.chain, self.subject)}"


def shortened(clause: Clause, chain: tuple[str, ...], subject: Subject) -> str:
    """Return the clause, with only the operation and the part of the filter that decide."""
    if clause.allow is None:
        return _cut(str(clause))
    operation = next((each for each in chain if each in clause.operations), clause.operations[0])
    words = ["allow" if clause.allow else "deny", _spelled(clause, operation)]
    if len(clause.operations) > 1 or clause.modifiers:
        words.append("…")
    line = ""
    if clause.filter is not None:
        if clause.filter.meets(subject):
            part = clause.filter.matched(subject)
            is_part = isinstance(clause.filter, Joined) and clause.filter.name == "require-any"
            at = clause.filter.line_of(subject)
            line = f"  (filter at line {at})" if at != clause.line else ""
        else:
            part, is_part = str(clause.filter), False
        words += [_cut(part), *(["…"] if is_part else [])]
    return f"({' '.join(words)}){line}"


def _spelled(clause: Clause, operation: str) -> str:
    """Return the name that the clause uses for an operation."""
    names = [each.name for each in clause.form.items if isinstance(each, Symbol)]
    return next((each for each in names if canonical(each) == operation), operation)


def _cut(words: str) -> str:
    return words if len(words) <= SHOWN else f"{words[:SHOWN]}…"


__all__ = ["ALLOWED", "OTHERWISE", "Outcome", "explain"]
