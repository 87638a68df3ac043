"""A process that runs many programs keeps nothing of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from boxspec.api import Box, Failure, Live, NotMeasured, at_most, expect, requires
from boxspec.api import programs as P
from contracts.exec.answers import ObservedBatch
from contracts.exec.moments import let_all_go, until

HERE = "exec.concurrent"


def outcomes(box: Box) -> list[dict[str, Any]]:
    """One run for each way in which a run can end."""
    null = "/dev/null"
    return [
        {"program": P.exit_with, "args": ["3"]},
        {"program": P.die_by, "args": ["KILL"]},
        {"program": "/no/such/program"},
        {"program": P.slow_exit, "args": [null, "3000"], "timeout_ms": 40},
        {"program": P.hash_stdin, "stdin": {"bytes": "x" * 1000}},
        {
            "program": P.close_early,
            "args": [null, "--in", "--then", "exit:0"],
            "stdin": {"bytes": "x" * 200_000},
        },
        {"program": P.orphan, "args": [null, "--keep", "out,err"]},
        {"program": P.orphan, "args": [null, "--setsid"]},
        {"program": P.exit_with, "args": ["0"], "current_dir": str(box.tmp / "missing")},
    ]


def alive(live: Live[ObservedBatch]) -> set[int]:
    return {child.pid for child in live.children() if child.alive}


def zombies(live: Live[ObservedBatch]) -> int:
    return sum(not child.alive for child in live.children())


COUNTED: dict[str, Callable[[Live[ObservedBatch]], int]] = {
    "descriptors": lambda live: live.status().fd_count,
    "zombies": zombies,
    "threads": lambda live: live.status().threads,
}


# So many at once first, always: an implementation may keep what its busiest moment needed.
PEAK = 24
# What 72 runs more may leave; and how long a busy machine may take to let all of them return.
MORE, RETURN_S = 3, 6.0


def kept_after(box: Box, rounds: int, what: str, enough: int) -> int:
    """How many a caller has when all runs have returned; `enough` ends the look early.

    That the runs go side by side, end and return is what others ask for; here it is the way there.
    """
    try:
        return counted(box, rounds, what, enough)
    except Failure as why:
        raise NotMeasured(f"the runs did not come to where {what} are counted: {why}") from why


def counted(box: Box, rounds: int, what: str, enough: int) -> int:
    events = box.events(f"{rounds}-rounds")
    fifo = box.fifo(f"open-{rounds}-rounds")
    gate = {"program": P.gate, "args": [events.path, str(fifo)]}
    after = [(600 + 25 * n, run) for n, run in enumerate(outcomes(box) * rounds)]
    with box.exec.start_batch([*[gate] * PEAK, *after], within_s=28, hold=True) as live:
        at_once = {events.wait("ready", timeout_s=20).pid for _ in range(PEAK)}
        let_all_go(fifo, lambda: bool(at_once & alive(live)))
        # A run that waits for an escapee, or for its turn, has leaked nothing yet.
        live.wait_response()
        seen = [COUNTED[what](live)]
        # A run returns a little after its child is gone: the least of some time is what stays.
        look_s = RETURN_S if enough else 1.5
        until(lambda: bool(seen.append(COUNTED[what](live))) or seen[-1] <= enough, look_s)
        live.finish()
    return min(seen)


def growth(box: Box, what: str) -> tuple[int, int]:
    few = kept_after(box, 2, what, 0)
    return few, kept_after(box, 10, what, few)


@pytest.mark.parametrize("what", ["descriptors", "zombies"])
@requires("EXEC-LEAK-01", pitfalls=["C8", "C10"], capability=HERE, overlap=8.0, stress=96)
def test_descriptors_and_zombies_do_not_grow_with_the_runs(box: Box, what: str) -> None:
    few, many = growth(box, what)
    expect(f"{what} of the caller after 90 runs, beyond those after 18", many - few, at_most(MORE))


@requires("EXEC-LEAK-02", pitfalls=["C9"], capability=HERE, overlap=8.0, stress=96)
def test_threads_do_not_grow_with_the_runs(box: Box) -> None:
    few, many = growth(box, "threads")
    expect("threads of the caller after 90 runs, beyond those after 18", many - few, at_most(MORE))
