"""Measure the helper processes of a run with a waiting program (observe/looking.py)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from boxspec.judge.verdict import Failure, Late
from boxspec.subject.case import Case
from boxspec.subject.observe.company import Company
from boxspec.subject.observe.lines import Deadline
from boxspec.subject.observe.looking import Looking
from boxspec.subject.shim_process import ShimProcess
from contracts.shared.inside import blame_place

WITHIN_S = 10.0
# A helper that lives only briefly may be missed once.
LOOKS = 2

# Starts a run of the program `gate EVENTS FIFO`.
Start = Callable[[str, Path], ShimProcess[Any]]


def looks(case: Case, contract: str, start: Start, name: str = "company") -> dict[str, Any] | None:
    """Record the helper processes of runs of a contract.

    If the shim refuses a run, return its answer without a record.
    """
    found = Company()
    for number in range(LOOKS):
        seen, answer = _look(case, f"{name}-{number}", start)
        if seen is None:
            return answer or {}
        found = found.joined(seen)
    case.session.company[contract] = found
    return None


def looks_in_passing(case: Case, contract: str, start: Start) -> None:
    """Record them as `looks` does; a run may fail, because the requirements report that."""
    try:
        looks(case, contract, start)
    except (Failure, Late):
        blame_place(case)


def _look(case: Case, name: str, start: Start) -> tuple[Company | None, dict[str, Any] | None]:
    """Return the helper processes of a run, unless the shim refuses it, and the answer."""
    events, fifo = case.events(name), case.fifo(name)
    with start(events.path, fifo) as shim:
        looking = Looking(shim)
        try:
            ready = looking.until_ready(events, Deadline(WITHIN_S))
        except Failure:
            seen = shim.finish()
            if seen.ok:
                raise
            return None, seen.raw
        case.open_gate(fifo)
        company = looking.until_the_end(ready, Deadline(WITHIN_S))
        return company, shim.finish().raw
