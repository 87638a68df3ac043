"""EXEC-LEAK: a process that runs many programs leaks no descriptor, zombie or thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from boxspec.api import Box, Failure, Live, NotMeasured, at_most, expect, requires
from boxspec.api import programs as P
from boxspec.errors import ShimBroke
from contracts.exec.answers import ObservedBatch
from contracts.exec.moments import open_gate_for_all, until

HERE = "exec.concurrent"


def outcomes(box: Box) -> list[dict[str, Any]]:
    """Return one request for each way in which a run can end."""
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
        *(run for needed, run in by_capability(null) if needed in box.capabilities),
    ]


def by_capability(null: str) -> list[tuple[str, dict[str, Any]]]:
    """Return requests that only some implementations support, with the needed capability."""
    more = b"more than it may write".hex()
    unread = {"stdin": {"bytes": "x" * 200_000}, "stdin_failure": "ignore"}
    return [
        ("exec.debug", {"program": P.emit, "args": ["--out", more], "debug": True}),
        ("exec.cap", {"program": P.emit, "args": ["--out", more], "max_output_bytes": 4}),
        (
            "exec.stdin_failure",
            {"program": P.close_early, "args": [null, "--in", "--then", "exit:0"], **unread},
        ),
    ]


def zombies(live: Live[ObservedBatch]) -> int:
    return sum(not each.alive for each in live.tree())


COUNTED: dict[str, Callable[[Live[ObservedBatch]], int]] = {
    "descriptors": lambda live: live.status().fd_count,
    "zombies": zombies,
    "threads": lambda live: live.status().threads,
}


# Each measurement starts with this many concurrent runs: an implementation may keep the resources
# of its busiest moment.
PEAK = 24
# Rounds of all outcomes in the two measurements.
FEW, MANY = 2, 10
# Allowed growth in total, and how long all runs may take to return on a busy machine.
MORE, RETURN_S = 3, 6.0


def count_after_runs(box: Box, rounds: int, what: str, enough: int) -> int:
    """Return how many of `what` a caller has after all runs; stop to look at `enough` or less."""
    try:
        return counted(box, rounds, what, enough)
    except (Failure, ShimBroke):
        # If one of the runs does not return even on its own, another requirement reports that.
        for run in outcomes(box):
            if not returns(box, run):
                raise NotMeasured(f"a run of {Path(run['program']).name} never returns") from None
        raise


def returns(box: Box, run: dict[str, Any]) -> bool:
    try:
        box.exec.run(**run, expect_result=False, within_s=10)
    except (Failure, ShimBroke):
        return False
    return True


def counted(box: Box, rounds: int, what: str, enough: int) -> int:
    events = box.events(f"{rounds}-rounds")
    fifo = box.fifo(f"open-{rounds}-rounds")
    gate = {"program": P.gate, "args": [events.path, str(fifo)]}
    after = [(600 + 25 * n, run) for n, run in enumerate(outcomes(box) * rounds)]
    with box.exec.start_batch([*[gate] * PEAK, *after], within_s=28, hold=True) as live:
        # Runs that execute one after another never reach PEAK; their leaks are measured anyway.
        until(lambda: len(events.all("ready")) == PEAK, 10)
        open_gate_for_all(fifo, lambda: live.running and not live.exchange.in_place)
        # A run that still waits, for an escapee or for its turn, has not leaked anything.
        live.wait_response()
        seen = [COUNTED[what](live)]
        # A run returns shortly after its child has ended: the minimum over some time is the leak.
        observe_s = RETURN_S if enough else 1.5
        until(lambda: bool(seen.append(COUNTED[what](live))) or seen[-1] <= enough, observe_s)
        live.finish()
    return min(seen)


def growth(box: Box, what: str) -> tuple[int, int]:
    few = count_after_runs(box, FEW, what, 0)
    return few, count_after_runs(box, MANY, what, few)


def growth_in_words(box: Box, what: str) -> str:
    """Describe the measured growth."""
    each = len(outcomes(box))
    return f"{what} of the caller after {MANY * each} runs, beyond those after {FEW * each}"


@pytest.mark.parametrize("what", ["descriptors", "zombies"])
@requires(
    "EXEC-LEAK-01",
    pitfalls=["C8", "C10"],
    capability=HERE,
    overlap=8.0,
    stress=96,
    needs=["EXEC-STDIN-09"],
)
def test_descriptors_and_zombies_do_not_grow_with_the_runs(box: Box, what: str) -> None:
    few, many = growth(box, what)
    expect(growth_in_words(box, what), many - few, at_most(MORE))


@requires(
    "EXEC-LEAK-02",
    pitfalls=["C9"],
    capability=HERE,
    overlap=8.0,
    stress=96,
    needs=["EXEC-STDIN-09"],
)
def test_threads_do_not_grow_with_the_runs(box: Box) -> None:
    few, many = growth(box, "threads")
    expect(growth_in_words(box, "threads"), many - few, at_most(MORE))
