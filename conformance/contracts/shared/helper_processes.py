"""Measure the helper processes of a run with a waiting program (observe/helper_watch.py)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from boxspec.judge.verdict import Failure, Late
from boxspec.subject.case import Case
from boxspec.subject.observe.helper_processes import HelperProcesses
from boxspec.subject.observe.helper_watch import HelperWatch
from boxspec.subject.observe.lines import Deadline
from boxspec.subject.shim_process import ShimProcess
from contracts.shared.inside import blame_place

WITHIN_S = 10.0
# The number of measurements, because one may miss a helper process that lives only briefly.
RUNS = 2

# A function that starts a run of the program `gate EVENTS FIFO`.
Start = Callable[[str, Path], ShimProcess[Any]]


def observe_helpers(
    case: Case, contract: str, start: Start, name: str = "helpers"
) -> dict[str, Any] | None:
    """Record the helper processes of runs of a contract.

    If the shim refuses a run, record nothing and return its answer.
    """
    found = HelperProcesses()
    for number in range(RUNS):
        seen, answer = _observe_once(case, f"{name}-{number}", start)
        if seen is None:
            return answer or {}
        found = found.joined(seen)
    case.session.helpers[contract] = found
    return None


def observe_helpers_if_possible(case: Case, contract: str, start: Start) -> None:
    """Call `observe_helpers`. Ignore a failing run, because requirements report it."""
    try:
        observe_helpers(case, contract, start)
    except (Failure, Late):
        blame_place(case)


def _observe_once(
    case: Case, name: str, start: Start
) -> tuple[HelperProcesses | None, dict[str, Any] | None]:
    """Return the helper processes of a run, or None if the shim refuses it, and the answer."""
    events, fifo = case.events(name), case.fifo(name)
    with start(events.path, fifo) as shim:
        watch = HelperWatch(shim)
        try:
            ready = watch.until_ready(events, Deadline(WITHIN_S))
        except Failure:
            seen = shim.finish()
            if seen.ok:
                raise
            return None, seen.raw
        case.open_gate(fifo)
        helpers = watch.until_the_end(ready, Deadline(WITHIN_S))
        return helpers, shim.finish().raw
