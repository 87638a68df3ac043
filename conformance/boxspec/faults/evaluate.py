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

# If two runs have missed a fault, this number of further runs follows, without other runs in
# parallel. Some faults show only at certain moments.
MORE_TRIES = 4


def of_requirement(fault: Fault) -> list[str]:
    """Return the options of a run that ends at the first failure of the fault's requirement."""
    return [str(fault.requirement), "-x"]


def of_topics(topics: Iterable[str | None]) -> list[str]:
    """Return the options that select these topics."""
    return [word for topic in sorted(filter(None, {*topics})) for word in ("--topic", topic)]


def words_for(fault: Fault, scope: str, others: Iterable[str]) -> list[str]:
    """Return the options that select the tests for a fault.

    Two kinds of faults check the suite itself. A control breaks everything, so tests must fail. A
    no-op changes nothing, so no test may fail. Both run against all tests. The scope `named` is
    shorter: the run of a control ends at its first failure, and a no-op runs only the tests of the
    other selected faults.
    """
    named = of_requirement(fault)
    if not fault.topic:
        named = ["-x"]
        if fault.role == "noop":
            named = sorted({*others})
    return {
        "all": [],
        "focus": ["--focus", str(fault.topic)],
        "own": of_topics([fault.topic]),
        "named": named,
    }[scope]


def evaluate(fault: Fault, runs: Runs, scope: str | None, others: Iterable[str] = ()) -> Outcome:
    """Run the suite against one fault.

    others: the requirements of the other selected faults of this contract.

    A failure of another topic may be caused by the load of the machine, so a requirement of another
    topic counts as failed only if it fails twice. The requirement of the fault counts as failed if
    one of two runs fails; `settle` adds more runs.
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
    """Run the doubtful requirements of other topics again; forget the requirements that conform
    this time."""
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
    """True if further runs may change the outcome: a fault was missed, or a no-op failed."""
    if outcome.problem:
        return False
    if outcome.fault.role == "noop":
        return bool(outcome.caught_by)
    return bool(outcome.fault.requirement and not outcome.named)


def settle(outcome: Outcome, runs: Runs) -> None:
    """Repeat the run of an unsettled outcome, with no other run in parallel."""
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
