"""Run a child that another waiter reaps. The wait of the implementation then fails with ECHILD."""

from __future__ import annotations

from collections.abc import Callable

from boxspec.api import NotMeasured, expect
from contracts.shared.runs import RunAnswer

WAIT_ERROR = "wait timeout error"
# The library and the implementation race to reap a child. An implementation that wins half of the
# races wins all of six in one test of 64.
RACES = 20

Outcome = tuple[str, object]


def wait_outcome(seen: RunAnswer) -> Outcome:
    """Return the fixed part of the wait error, or the exit code of a result."""
    if seen.ok:
        return ("exit_code", seen.result["exit_code"])
    error = seen.error
    words = WAIT_ERROR if error["message"].startswith(f"{WAIT_ERROR}: ") else error["message"]
    return (error["kind"], words)


def expect_wait_errors(what: str, run_once: Callable[[int], Outcome]) -> None:
    """Run a child that exits with 0, until the preloaded library has reaped three children. Expect
    a wait error for each of the three.

    If the implementation wins a race, it correctly reports the exit code.
    """
    stolen: list[Outcome] = []
    for turn in range(RACES):
        outcome = run_once(turn)
        if outcome != ("exit_code", 0):
            stolen.append(outcome)
        if len(stolen) == 3:
            break
    if not stolen:
        raise NotMeasured(
            "in each attempt the implementation reaped its child before the test could"
        )
    expect(f"outcomes of {what}", set(stolen), {("execution", WAIT_ERROR)})
