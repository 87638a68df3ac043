"""EXEC-SPAWN: the state of the caller after a failed start, and how often a program is started."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from boxspec.api import expect, requires
from boxspec.api import programs as P
from contracts.exec.client import ExecCase
from contracts.exec.moments import extra_descendants
from contracts.exec.spawn_io import SPAWN_FAILURE, left_by_child, outcome, shell_request
from contracts.shared.requests import ExecRequest

FAILING: dict[str, Callable[[Path], ExecRequest]] = {
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
GOOD: ExecRequest = {"program": "/bin/true"}


def run_and_leftovers(
    case: ExecCase, run: ExecRequest, usual: int = 0
) -> tuple[str, list[str], int]:
    """Return the outcome of one run, and the processes and descriptors of the caller after it.

    Processes are listed only if there are more than `usual`.
    """
    with case.exec.start(**run, hold=True) as shim:
        shim.wait_response()
        processes, status = extra_descendants(shim, usual), shim.at_rest()
        seen = shim.finish()
    return outcome(seen), processes, status.fd_count


@requires("EXEC-SPAWN-10", pitfalls=["A2"], capability="exec.concurrent")
@pytest.mark.parametrize("why", FAILING)
def test_a_spawn_failure_leaves_no_child_no_zombie_and_no_descriptor(
    case: ExecCase, why: str
) -> None:
    # A plain run may keep resources for the next run. A failed run may keep only the same.
    _, servers, usual = run_and_leftovers(case, GOOD)
    how, processes, descriptors = run_and_leftovers(case, FAILING[why](case.tmp), len(servers))
    expect(
        "outcome, processes, and whether there are more descriptors than after a run",
        (how, processes, descriptors > usual),
        (SPAWN_FAILURE, [], False),
        {"descriptors": descriptors, "after a run": usual, "processes after a run": servers},
    )


@requires("EXEC-SPAWN-10", pitfalls=["A2"], capability="exec.concurrent")
@pytest.mark.parametrize("why", FAILING)
def test_after_spawn_failures_the_next_runs_work_and_no_zombie_is_left(
    case: ExecCase, why: str
) -> None:
    bad = FAILING[why](case.tmp)
    runs = [bad] * 6 + [GOOD] + [bad] * 6 + [GOOD]
    with case.exec.start_batch([GOOD] * len(runs), hold=True) as shim:
        shim.wait_response()
        servers = extra_descendants(shim)
    with case.exec.start_batch(runs, hold=True) as shim:
        shim.wait_response()
        processes = extra_descendants(shim, len(servers))
        seen = shim.finish()
    wanted = ([SPAWN_FAILURE] * 6 + ["exit 0"]) * 2
    expect("outcomes and processes", ([outcome(r) for r in seen.runs], processes), (wanted, []))


@requires("EXEC-SPAWN-10", pitfalls=["A26"], capability="exec.concurrent")
def test_a_spawn_failure_changes_neither_mask_nor_dispositions(case: ExecCase) -> None:
    def signals(*more: ExecRequest) -> tuple[object, ...]:
        state = ["--block", "USR2", "--ignore", "HUP"]
        # The first run is plain, because a runtime may install handlers for its first child and
        # keep them.
        with case.exec.start_batch([GOOD, *more], state=state, hold=True) as shim:
            shim.wait_response()
            blocked, status = shim.blocked_at_rest(), shim.at_rest()
        return blocked, *(status.mask(name) for name in ("SigIgn", "SigCgt"))

    expect(
        "blocked, ignored and caught signals of the caller after a failure and a success",
        signals({"program": str(case.tmp / "absent")}),
        signals(),
    )


STARTS: dict[str, Callable[[Path], ExecRequest]] = {
    "exits 0": lambda starts: {"program": P.count_start, "args": [str(starts)]},
    "exits 1": lambda starts: {"program": P.count_start, "args": [str(starts), "--exit", "1"]},
    "exits 126": lambda starts: {"program": P.count_start, "args": [str(starts), "--exit", "126"]},
    "exits 127": lambda starts: {"program": P.count_start, "args": [str(starts), "--exit", "127"]},
    "exits 255": lambda starts: {"program": P.count_start, "args": [str(starts), "--exit", "255"]},
    "dies of a signal": lambda starts: shell_request('printf x >>"$1"; kill -KILL $$', starts),
}


@requires("EXEC-SPAWN-13", pitfalls=["A30"])
@pytest.mark.parametrize("how", STARTS)
def test_a_program_is_started_exactly_once(case: ExecCase, how: str) -> None:
    starts = case.tmp / "starts"
    case.exec.run(**STARTS[how](starts))
    expect("starts that the program counted", len(left_by_child(starts)), 1)
