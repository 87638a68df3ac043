"""Run the suite against one fault, and decide whether the suite catches it.

A fault counts as caught if the requirement that it breaks fails, and no requirement of another
topic does.
"""

from __future__ import annotations

from collections.abc import Iterable

from boxspec.errors import HarnessError
from boxspec.faults.fault import Fault
from boxspec.faults.outcome import Outcome
from boxspec.faults.runs import Runs
from boxspec.judge.requirements import load
from boxspec.subject.contract import find

# Further runs, without other runs in parallel, of a fault that two runs missed: some faults show
# only at certain moments.
MORE_TRIES = 4


def of_requirement(fault: Fault) -> list[str]:
    """Return the options of a run that ends at the first failure of the fault's requirement."""
    return ["--requirement", str(fault.requirement), "-x"]


def of_topics(topics: Iterable[str | None]) -> list[str]:
    """Return the options that select these topics."""
    return [word for topic in sorted(filter(None, {*topics})) for word in ("--topic", topic)]


def words_for(fault: Fault, scope: str, others: Iterable[str]) -> list[str]:
    """Return the options that select the tests for a fault.

    A control and a no-op run against every test, except in the scope `named`. There a control is
    caught by its first failure, and a no-op runs against the requirements of the other selected
    faults: its result elsewhere would say little about them.
    """
    named = of_requirement(fault)
    if not fault.topic:
        named = ["-x"]
        if fault.role == "noop":
            named = [word for name in sorted({*others}) for word in ("--requirement", name)]
    return {
        "all": [],
        "focus": ["--focus", str(fault.topic)],
        "own": of_topics([fault.topic]),
        "named": named,
    }[scope]


def evaluate(fault: Fault, runs: Runs, scope: str | None, others: Iterable[str] = ()) -> Outcome:
    """Run one fault.

    A requirement of another topic counts if it fails twice, because load may cause one failure. The
    requirement of the fault counts if it fails in one of two runs; `settle` adds more runs.
    others: the requirements of the other selected faults of this contract.
    """
    if not fault.topic and scope != "named":
        scope = "all"
    outcome = Outcome(fault, scope or find(fault.contract).fault_scope)
    words = words_for(fault, outcome.scope, others)
    try:
        outcome.caught_by = runs.failing(fault, words)
        if fault.requirement and not outcome.named:
            repeat_own(outcome, runs)
        if outcome.blunt:
            repeat_failing(outcome, outcome.blunt, runs)
    except HarnessError as why:
        if fault.role == "control" and "not a conforming shim" in str(why):
            outcome.caught_by = ["trust checks"]
        else:
            outcome.problem = str(why)
    return outcome


def repeat_failing(outcome: Outcome, doubtful: list[str], runs: Runs) -> None:
    """Remove requirements that do not fail a second time."""
    again = runs.failing(outcome.fault, of_topics(load()[name].topic for name in doubtful))
    outcome.caught_by = [
        name for name in outcome.caught_by if name not in doubtful or name in again
    ]


def repeat_own(outcome: Outcome, runs: Runs) -> None:
    """Run the tests of the fault's requirement again."""
    outcome.tries += 1
    again = runs.failing(outcome.fault, of_requirement(outcome.fault))
    outcome.caught_by = sorted({*outcome.caught_by, *again})


def is_unsettled(outcome: Outcome) -> bool:
    """True for a missed fault, which may show in another run, and for a no-op that load may have
    failed."""
    if outcome.problem:
        return False
    if outcome.fault.role == "noop":
        return bool(outcome.caught_by)
    return bool(outcome.fault.requirement and not outcome.named)


def settle(outcome: Outcome, runs: Runs) -> None:
    """Run the last repetitions, with no other run in parallel."""
    try:
        if outcome.fault.role == "noop":
            repeat_failing(outcome, outcome.caught_by, runs)
            return
        for _ in range(MORE_TRIES):
            repeat_own(outcome, runs)
            if outcome.named:
                return
    except HarnessError as why:
        outcome.problem = str(why)
