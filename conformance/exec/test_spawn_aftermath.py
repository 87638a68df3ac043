"""EXEC-SPAWN: what a failed start leaves behind, and how often a program starts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from boxspec.api import Box, expect, requires
from boxspec.api import programs as P
from exec.spawn_io import SPAWN_FAILURE, outcome, shell

Request = dict[str, Any]

FAILING: dict[str, Callable[[Path], Request]] = {
    "missing program": lambda tmp: {"program": str(tmp / "absent")},
    "directory": lambda tmp: {"program": str(tmp)},
    "missing working directory": lambda tmp: {
        "program": "/bin/true",
        "current_dir": str(tmp / "absent"),
    },
    "argument too long": lambda tmp: {"program": "/bin/true", "args": ["x" * 140_000]},
    "NUL": lambda tmp: {"program": "/bin/true", "args": ["a\0b"]},
    "payload for a missing program": lambda tmp: {
        "program": str(tmp / "absent"),
        "stdin": b"x" * 100_000,
    },
}
GOOD: Request = {"program": "/bin/true"}
MANY = 8


def after(box: Box, runs: list[Request]) -> tuple[list[str], int, int, int]:
    """Outcomes of a batch, then what the quiet caller still has: processes, descriptors."""
    with box.start_batch(runs, hold=True) as live:
        live.wait_response()
        children, status = live.children(), live.status()
        seen = live.finish()
    return (
        [outcome(run) for run in seen.runs],
        sum(1 for child in children if child.alive),
        sum(1 for child in children if not child.alive),
        status.fd_count,
    )


@requires("EXEC-SPAWN-10", pitfalls=["A2"], capability="exec.concurrent")
@pytest.mark.parametrize("why", FAILING)
def test_a_spawn_failure_leaves_no_child_no_zombie_and_no_descriptor(box: Box, why: str) -> None:
    _, _, _, usual = after(box, [GOOD] * (MANY + 1))
    outcomes, children, zombies, descriptors = after(box, [FAILING[why](box.tmp)] * MANY + [GOOD])
    expect(
        "outcomes, children, zombies, and whether descriptors are left after the failures",
        (outcomes, children, zombies, descriptors > usual),
        ([SPAWN_FAILURE] * MANY + ["exit 0"], 0, 0, False),
        {"descriptors": descriptors, "after as many plain runs": usual},
    )


@requires("EXEC-SPAWN-10", pitfalls=["A26"], capability="exec.concurrent")
def test_after_a_spawn_failure_mask_and_dispositions_are_as_before(box: Box) -> None:
    def signals(program: str) -> tuple[set[int], ...]:
        state = ["--block", "USR2", "--ignore", "HUP"]
        with box.start(program=program, state=state, hold=True) as live:
            live.wait_response()
            status = live.status()
        return tuple(status.mask(name) for name in ("SigBlk", "SigIgn", "SigCgt"))

    expect(
        "blocked, ignored and caught signals after a failure, as after a plain run",
        signals(str(box.tmp / "absent")),
        signals("/bin/true"),
    )


STARTS: dict[str, Callable[[Path], Request]] = {
    "exits 0": lambda starts: {"program": P.count_start, "args": [str(starts)]},
    "exits 1": lambda starts: {"program": P.count_start, "args": [str(starts), "--exit", "1"]},
    "exits 126": lambda starts: {"program": P.count_start, "args": [str(starts), "--exit", "126"]},
    "exits 127": lambda starts: {"program": P.count_start, "args": [str(starts), "--exit", "127"]},
    "exits 255": lambda starts: {"program": P.count_start, "args": [str(starts), "--exit", "255"]},
    "dies of a signal": lambda starts: shell('printf x >>"$1"; kill -KILL $$', starts),
}


@requires("EXEC-SPAWN-13", pitfalls=["A30"])
@pytest.mark.parametrize("how", STARTS)
def test_a_program_is_started_exactly_once(box: Box, how: str) -> None:
    starts = box.tmp / "starts"
    box.run(**STARTS[how](starts))
    expect("starts that the program counted", starts.stat().st_size, 1)
