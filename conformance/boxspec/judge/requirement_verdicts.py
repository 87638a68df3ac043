"""Compute the verdicts of requirements from the records of tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from boxspec.judge.baseline import Baseline
from boxspec.judge.record import Record
from boxspec.judge.requirements import PROFILES, Requirement, closure, contract_of, load, select
from boxspec.judge.results import JudgedRequirement
from boxspec.judge.stable import stable
from boxspec.judge.verdict import BROKEN, OBSERVED, Verdict, worst


class Blockers:
    """Finds failures that are only the consequence of another broken requirement."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._failing: dict[str, list[Record]] = {}
        for record in records:
            if record.verdict in BROKEN:
                for name in record.requirements:
                    self._failing.setdefault(name, []).append(record)
        self._broken: dict[str, bool] = {}

    def by(self, name: str, record: Record) -> list[str]:
        """Return the broken requirements that explain why requirement `name` failed."""
        return [] if record.verdict in OBSERVED else sorted(self._explained(name, record, {name}))

    def _explained(self, name: str, record: Record, above: set[str]) -> set[str]:
        """Return the broken requirements that explain a failure, following `needs` transitively.

        If a needed requirement fails only because of a third one, the third one explains this
        failure.
        above: the requirements on the path from the failed one to this one. They are not visited
            again, because needs of tests can form a circle.
        """
        found: set[str] = set()
        for each in self._needs(name, record) - above:
            if self._is_broken(each):
                found.add(each)
                continue
            for other in self._failing.get(each, ()):
                found |= self._explained(each, other, above | {each})
        return found

    @staticmethod
    def _needs(name: str, record: Record) -> set[str]:
        known = load()
        return closure({*(known[name].needs if name in known else ()), *record.needs})

    def _is_broken(self, name: str) -> bool:
        """True if at least one failure of this requirement has no other requirement as its
        cause."""
        if name not in self._broken:
            # Tests may need each other in a circle. Then each requirement of the circle counts as
            # broken.
            self._broken[name] = name in self._failing
            self._broken[name] = any(
                not self.by(name, record) for record in self._failing.get(name, ())
            )
        return self._broken[name]


def judge_requirements(
    records: Iterable[Record],
    selected: Mapping[str, Requirement],
    capabilities: Iterable[str],
    baseline: Baseline | None = None,
) -> list[JudgedRequirement]:
    """Return all selected requirements, each with its worst verdict."""
    every = list(records)
    blockers = Blockers(every)
    deciding: dict[str, list[Record]] = {name: [] for name in selected}
    for record in every:
        for name in record.requirements:
            if name in deciding:
                deciding[name].append(record)
    declared = set(capabilities)
    judged = []
    for name, requirement in selected.items():
        each = _verdict_of(requirement, deciding[name], declared, blockers)
        each.known = baseline is not None and baseline.covers(name, each.reasons)
        judged.append(each)
    _refute_blockers(judged)
    return judged


def _refute_blockers(judged: Iterable[JudgedRequirement]) -> None:
    """Block nothing by requirements that conform.

    A test found them broken, and all their own tests conform: the shim gave two answers to one
    question, or one of them exceeded a time limit. So nothing is decided, and the reason says this.
    """
    verdicts = {each.id: each.verdict for each in judged}
    for each in judged:
        by = each.blocked_by
        if by and all(verdicts.get(name) is Verdict.CONFORMS for name in by):
            each.blocked_by = []
            each.why = f"{', '.join(by)} broke here, and in its own tests it conforms"
            each.reason = each.why + each.reason.removeprefix(f"blocked by {', '.join(by)}")


def _verdict_of(
    requirement: Requirement, mine: list[Record], declared: Collection[str], blockers: Blockers
) -> JudgedRequirement:
    name = requirement.id
    needed = requirement.capability
    if needed is None and not mine and contract_of(name) not in declared:
        needed = contract_of(name)
    if needed is not None and needed not in declared:
        reason = f"the shim does not declare {needed}"
        made = JudgedRequirement(requirement, Verdict.NOT_APPLICABLE, mine, reason, reason)
        made.missing = [needed]
        return made
    if not mine:
        reason = "no test of it ran"
        return JudgedRequirement(requirement, Verdict.NOT_MEASURED, mine, reason, reason)
    blocked = {id(each): blockers.by(name, each) for each in mine if each.verdict in BROKEN}
    failing = [each for each in mine if each.verdict in BROKEN and not blocked[id(each)]]
    # A test may need more capabilities than its requirement. If a test does not apply, the other
    # tests decide. An escape that was declared before the run is not ignored: the requirement must
    # not conform because other attempts were refused.
    applying = [
        each for each in mine if each.verdict is not Verdict.NOT_APPLICABLE or each.escaped
    ] or mine
    verdict = worst(
        Verdict.NOT_MEASURED if blocked.get(id(each)) else each.verdict for each in applying
    )
    made = JudgedRequirement(requirement, verdict, mine, failing=failing)
    if verdict is Verdict.NOT_MEASURED:
        _explain_not_measured(made, mine, {each for by in blocked.values() for each in by})
        return made
    first = next(each for each in failing or mine if each.verdict is verdict)
    if verdict is not Verdict.CONFORMS:
        made.reason, made.why = first.reason, first.why
    if verdict is Verdict.NOT_APPLICABLE:
        made.missing = first.missing
    return made


def _explain_not_measured(made: JudgedRequirement, mine: list[Record], blockers: set[str]) -> None:
    undecided = [each for each in mine if each.verdict is Verdict.NOT_MEASURED]
    made.blocked_by = sorted({*blockers, *(by for each in undecided for by in each.blocked_by)})
    if made.blocked_by:
        reason = next((each.reason for each in undecided if each.blocked_by), "")
        made.why = f"blocked by {', '.join(made.blocked_by)}"
        made.reason = f"{made.why}: {reason}" if reason else made.why
        return
    # Prefer a reason other than a missing feature of the host.
    first = min(undecided, key=lambda each: bool(each.lacks))
    made.reason, made.why, made.lacks = first.reason, stable(first.reason), first.lacks


def selection(
    contracts: list[str] | None,
    profile: str | None,
    spoken: Iterable[str],
    named: set[str] | None,
) -> tuple[list[str], list[str], dict[str, Requirement]]:
    """Return the judged contracts, the undeclared contracts, and the selected requirements.

    spoken: the contracts of which the shim declares at least a part.
    named: the requirements that the user selected by an expression or by id; None for all.
    """
    declared = set(spoken)
    every = list(dict.fromkeys(each.contract for each in load().values()))
    chosen = contracts
    if chosen is None:
        # With -k or --topic, leave out declared contracts to which no selected requirement belongs.
        asked = every if named is None else {load()[name].contract for name in named}
        known = [name for name in every if name in declared]
        chosen = [name for name in known if name in asked] or known
    missing = [name for name in every if name not in declared]
    kinds = PROFILES if profile in (None, "all") else (profile,)
    found = select(chosen, kinds)
    if named is not None:
        found = {name: each for name, each in found.items() if name in named}
    return chosen, missing, found
