"""EXEC-SPAWN-14: system call filters that refuse newer calls, as old container engines do."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Unpack

import pytest

from boxspec.api import NotMeasured, Observed, expect, requires
from boxspec.api import programs as P
from contracts.exec.answers import ObservedRun
from contracts.exec.client import ExecCase, Run, RunOptions
from contracts.exec.moments import FOREVER_MS, TIMED_OUT, expect_none_left
from contracts.exec.spawn_io import error_of, outcome, reported
from contracts.shared.requests import ExecRequest
from contracts.shared.signals import signals_in

DENIED = {
    f"{call} {error}": ["--seccomp-deny", f"{call}:{error}"]
    for call in ("clone3", "pidfd_open", "close_range", "pidfd_send_signal")
    for error in ("ENOSYS", "EPERM")
}
DENIED["all ENOSYS"] = [word for name, flag in DENIED.items() if "ENOSYS" in name for word in flag]
DENIED["all EPERM"] = [
    word for name, flag in DENIED.items() if "EPERM" in name and "all" not in name for word in flag
]


def need_shim_under_filter(case: ExecCase, filter_: str, seen: Observed) -> None:
    """Raise NotMeasured if the shim does not even answer hello under this filter."""
    if seen.ok:
        return
    hello = {"op": "hello", "protocol": 1, "nonce": "under a filter"}
    if not case.send(hello, state=DENIED[filter_], expect_result=False).ok:
        raise NotMeasured("the shim itself does not work under this filter")


def run_under(case: ExecCase, filter_: str, **run: Unpack[RunOptions]) -> ObservedRun:
    """Run a program under the filter."""
    state = [*DENIED[filter_], *run.pop("state", ())]
    seen = case.exec.run(**(run | {"state": state, "within_s": 10, "expect_result": False}))
    need_shim_under_filter(case, filter_, seen)
    return seen


@requires("EXEC-SPAWN-14", pitfalls=["A27"])
@pytest.mark.parametrize("filter_", DENIED)
def test_runs_work_where_newer_system_calls_are_denied(case: ExecCase, filter_: str) -> None:
    seen = run_under(case, filter_, program=P.exit_with, args=["7"])
    expect("how the child ended under the filter", outcome(seen), "exit 7", error_of(seen))


# If clone3 fails with EPERM, C libraries create no threads. But an implementation may need threads
# for runs at the same time.
THREADED = [name for name in DENIED if name not in ("clone3 EPERM", "all EPERM")]


@requires("EXEC-SPAWN-14", pitfalls=["A27"], capability="exec.concurrent", overlap=0.5)
@pytest.mark.parametrize("filter_", THREADED)
def test_each_of_several_runs_works_where_newer_system_calls_are_denied(
    case: ExecCase, filter_: str
) -> None:
    # Two runs at once and one after them must all work with the older system calls.
    runs: list[Run] = [
        (after_ms, {"program": P.exit_with, "args": [str(code)]})
        for after_ms, code in ((0, 5), (0, 6), (200, 7))
    ]
    seen = case.exec.batch(runs, state=DENIED[filter_], within_s=10, expect_result=False)
    need_shim_under_filter(case, filter_, seen)
    got = [outcome(run) for run in seen.runs] if seen.ok else outcome(seen)
    expect("how the children ended under the filter", got, ["exit 5", "exit 6", "exit 7"])


@requires("EXEC-SPAWN-14", pitfalls=["A27"])
@pytest.mark.parametrize("filter_", DENIED)
def test_a_child_starts_in_the_same_state_where_newer_calls_are_denied(
    case: ExecCase, filter_: str
) -> None:
    # With the older system calls the child must get the same group, signals, descriptors and
    # directory.
    place, here = case.tmp / "report", case.tmp / "here"
    here.mkdir()
    state = ["--ignore", "PIPE", "--ignore", "USR1", "--block", "USR2"]
    run: ExecRequest = {
        "program": P.report,
        "args": [str(place)],
        "current_dir": str(here),
        "stdin": "null",
    }
    control = case.exec.run(**run, state=state)
    expect("how the child ended without the filter", outcome(control), "exit 0", error_of(control))
    wanted = how_it_started(place)
    place.unlink()
    seen = run_under(case, filter_, **run, state=state)
    expect("how the child ended under the filter", outcome(seen), "exit 0", error_of(seen))
    what = "leads its group, ignored of PIPE and USR1, blocked, descriptors, directory"
    expect(what, how_it_started(place), wanted)


def how_it_started(report: Path) -> tuple[object, ...]:
    found = reported(report)
    return (
        found["pgid"] == found["pid"],
        signals_in(found["sigign"]) & {signal.SIGPIPE, signal.SIGUSR1},
        signals_in(found["sigblk"]),
        [(each["fd"], each["type"]) for each in found["fds"]],
        found["cwd"],
    )


@requires(
    "EXEC-SPAWN-14", pitfalls=["A27"], overlap=0.5, needs=["EXEC-ORPHAN-01", "EXEC-ORPHAN-02"]
)
@pytest.mark.parametrize("filter_", DENIED)
def test_orphans_are_killed_where_newer_system_calls_are_denied(
    case: ExecCase, filter_: str
) -> None:
    args = [case.events().path, "--exit", "3", "--ignore", "TERM"]
    seen = run_under(case, filter_, program=P.orphan, args=args)
    expect("how the child ended under the filter", outcome(seen), "exit 3", error_of(seen))
    expect_none_left(seen, case.events(), orphan=1)


@requires("EXEC-SPAWN-14", pitfalls=["A27"], overlap=0.6)
@pytest.mark.parametrize("filter_", DENIED)
def test_deadlines_hold_where_newer_system_calls_are_denied(case: ExecCase, filter_: str) -> None:
    args = [case.events().path, FOREVER_MS]
    seen = run_under(case, filter_, program=P.slow_exit, args=args, timeout_ms=300)
    got = (outcome(seen), seen.ok and seen.stderr.endswith(TIMED_OUT))
    expect("how the run ended under the filter, and its annotation", got, ("no exit code", True))
