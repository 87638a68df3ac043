"""Behaviour of macOS that others have reported, and that is not verified here.

It leads to notes, but not to decisions.
"""

from __future__ import annotations

from dataclasses import replace

from contracts.sbpl.seatbelt.decide import Decider, Decision, Outcome
from contracts.sbpl.seatbelt.filters import Filter, Joined
from contracts.sbpl.seatbelt.forms import Clause

REPORTED = "reported, not verified here"
# With `(deny default)` these operations were seen to stay allowed.
_BEYOND_DEFAULT = (
    "process-info*",
    "file-map-executable",
    "iokit-get-properties",
    "nvram*",
    "system-privilege",
)


def notes(decider: Decider, decision: Decision, operation: str) -> list[str]:
    """Return notes about reported behaviour that would change the decision."""
    if decision.outcome not in (Outcome.ALLOW, Outcome.DENY):
        return []
    return [
        *_combined_allow(decider, decision, operation),
        *_sharp_s(decider, decision, operation),
        *_beyond_default(decider, decision, operation),
        *_implicit(decider, decision, operation),
    ]


def _combined_allow(decider: Decider, decision: Decision, operation: str) -> list[str]:
    """Note that an earlier allow with `require-all` may decide in place of a plain deny of the same
    operation."""
    denies = decision.specific.clause
    if decision.allowed or denies is None or denies.filter is None or _is_combined(denies.filter):
        return []
    level = next(each for each in decider.chain(operation) if each in denies.operations)
    for clause in decider.profile.clauses:
        if clause is denies:
            break
        if _beats(clause, level) and clause.filter and clause.filter.meets(decision.subject):
            return [f"{REPORTED}: the allow with require-all at {clause.place} decides instead"]
    return []


def _beats(clause: Clause, level: str) -> bool:
    if not clause.allow or level not in clause.operations or clause.filter is None:
        return False
    return _is_combined(clause.filter)


def _is_combined(filter_: Filter) -> bool:
    return any(isinstance(each, Joined) and each.name == "require-all" for each in filter_.parts())


def _sharp_s(decider: Decider, decision: Decision, operation: str) -> list[str]:
    """Note that names which differ in ß and ss may be one file, on APFS without case."""
    path = decision.subject.path
    if path is None:
        return []
    sharp = "ß".encode()
    for other in (path.replace(sharp, b"ss"), path.replace(b"ss", sharp)):
        if other == path:
            continue
        there = decider.decide(operation, replace(decision.subject, path=other))
        if there.outcome is not decision.outcome:
            name = other.decode("utf-8", "backslashreplace")
            return [f"{REPORTED}: APFS may take {name} for the same file: {there.outcome}"]
    return []


def _beyond_default(decider: Decider, decision: Decision, operation: str) -> list[str]:
    """Note that `(deny default)` may leave this operation allowed."""
    if decision.allowed:
        return []
    chain = decider.chain(operation)
    family = next((each for each in _BEYOND_DEFAULT if each in chain), None)
    clause = decision.specific.clause
    if family is None or (clause is not None and not set(chain[:-1]).isdisjoint(clause.operations)):
        return []
    return [
        f"{REPORTED}: (deny default) does not include {family}; only a clause of its own denies"
    ]


def _implicit(decider: Decider, decision: Decision, operation: str) -> list[str]:
    """Note that the operation may be allowed although no clause about it applies: by the language
    itself, or by a clause about network-inbound."""
    if decision.allowed:
        return []
    if operation == "signal" and decision.subject.facts.get("target") == (b"self",):
        return [f"{REPORTED}: a process can always send a signal to itself"]
    if operation == "network-bind":
        here = decision.specific.clause
        if here is not None and "network-bind" in here.operations:
            return []
        there = decider.decide("network-inbound", decision.subject)
        clause = there.specific.clause
        if there.allowed and clause is not None and "network-inbound" in clause.operations:
            return [
                f"{REPORTED}: the clause about network-inbound at {clause.place} decides instead"
            ]
    return []
