"""A child that somebody else collects: the wait of the implementation ends with ECHILD."""

from __future__ import annotations

from collections.abc import Callable

from boxspec.api import NotMeasured, expect
from contracts.exec.answers import ObservedRun

WAIT_ERROR = "wait timeout error"

Outcome = tuple[str, object]


def wait_outcome(seen: ObservedRun) -> Outcome:
    """The wait error by its fixed words, or the code of a result."""
    if seen.ok:
        return ("exit_code", seen.result["exit_code"])
    error = seen.error
    words = WAIT_ERROR if error["message"].startswith(f"{WAIT_ERROR}: ") else error["message"]
    return (error["kind"], words)


def expect_wait_errors(what: str, run_once: Callable[[int], Outcome]) -> None:
    """Run what exits with 0, by its number, until the thief has had three; each is a wait error.

    Thief and implementation race for each child; where the latter wins, its code is the truth.
    """
    stolen: list[Outcome] = []
    for turn in range(12):
        outcome = run_once(turn)
        if outcome != ("exit_code", 0):
            stolen.append(outcome)
        if len(stolen) == 3:
            break
    if not stolen:
        raise NotMeasured("the implementation won each race for its child")
    expect(f"outcomes of {what}", set(stolen), {("execution", WAIT_ERROR)})
