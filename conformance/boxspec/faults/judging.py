"""One fault against the suite: what catches it, and how often it is tried.

A fault is one realistic mistake over the twin, with the requirement that it breaks. It counts when
that requirement fails, and none of another topic does.
"""

from __future__ import annotations

from collections.abc import Iterable

from boxspec.errors import HarnessError
from boxspec.faults.fault import Fault
from boxspec.faults.outcome import Outcome
from boxspec.faults.runs import Runs
from boxspec.judge.requirements import load
from boxspec.subject.contract import find

# A fault that two runs beside others missed has so many more, alone: some mistakes show at some
# moments only.
MORE_TRIES = 4


def of_requirement(fault: Fault) -> list[str]:
    """The words that ask whether the requirement that it breaks sees it; one failure is enough."""
    return ["--requirement", str(fault.requirement), "-x"]


def of_topics(topics: Iterable[str | None]) -> list[str]:
    """The words that choose the tests of these topics."""
    return [word for topic in sorted(filter(None, {*topics})) for word in ("--topic", topic)]


def words_for(fault: Fault, scope: str, beside: Iterable[str]) -> list[str]:
    """The words that choose what this fault is asked.

    A control and a no-op meet every test, but in the scope `named`. There one failure tells that a
    control is caught, and a no-op is asked what the faults beside it are asked: that the twin
    conforms elsewhere decides nothing about them.
    """
    named = of_requirement(fault)
    if not fault.topic:
        named = ["-x"]
        if fault.role == "noop":
            named = [word for name in sorted({*beside}) for word in ("--requirement", name)]
    return {
        "all": [],
        "focus": ["--focus", str(fault.topic)],
        "own": of_topics([fault.topic]),
        "named": named,
    }[scope]


def judge(fault: Fault, runs: Runs, scope: str | None, beside: Iterable[str] = ()) -> Outcome:
    """A requirement of another topic counts when it fails twice: one failure may be the load's.

    The named one counts when it fails in one of two runs; `settle` gives it more. `beside` are the
    requirements that the other faults of this contract break.
    """
    if not fault.topic and scope != "named":
        scope = "all"
    outcome = Outcome(fault, scope or find(fault.contract).fault_scope)
    words = words_for(fault, outcome.scope, beside)
    try:
        outcome.caught_by = runs.failing(fault, words)
        if fault.requirement and not outcome.named:
            try_again(outcome, runs)
        if outcome.blunt:
            ask_again(outcome, outcome.blunt, runs)
    except HarnessError as why:
        if fault.role == "control" and "not a conforming shim" in str(why):
            outcome.caught_by = ["trust checks"]
        else:
            outcome.problem = str(why)
    return outcome


def ask_again(outcome: Outcome, doubtful: list[str], runs: Runs) -> None:
    """What does not fail a second time is not counted."""
    again = runs.failing(outcome.fault, of_topics(load()[name].topic for name in doubtful))
    outcome.caught_by = [
        name for name in outcome.caught_by if name not in doubtful or name in again
    ]


def try_again(outcome: Outcome, runs: Runs) -> None:
    """The tests of its requirement once more."""
    outcome.tries += 1
    again = runs.failing(outcome.fault, of_requirement(outcome.fault))
    outcome.caught_by = sorted({*outcome.caught_by, *again})


def unsettled(outcome: Outcome) -> bool:
    """A fault that its requirement did not see and may see at another moment, or a no-op that the
    load beside it may have tripped."""
    if outcome.problem:
        return False
    if outcome.fault.role == "noop":
        return bool(outcome.caught_by)
    return bool(outcome.fault.requirement and not outcome.named)


def settle(outcome: Outcome, runs: Runs) -> None:
    """The last tries, with nothing beside them."""
    try:
        if outcome.fault.role == "noop":
            ask_again(outcome, outcome.caught_by, runs)
            return
        for _ in range(MORE_TRIES):
            try_again(outcome, runs)
            if outcome.named:
                return
    except HarnessError as why:
        outcome.problem = str(why)
