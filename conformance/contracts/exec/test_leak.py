"""EXEC-LEAK: a process that makes many runs leaks no descriptor, zombie or thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from boxspec.api import (
    Failure,
    Late,
    NotApplicable,
    NotMeasured,
    ShimProcess,
    at_most,
    expect,
    requires,
)
from boxspec.api import programs as P
from boxspec.errors import ShimBroke
from contracts.exec.answers import ObservedBatch
from contracts.exec.client import ExecCase, Run
from contracts.exec.moments import open_gate_for_all, until
from contracts.exec.theft import WAIT_ERROR, wait_outcome
from contracts.shared.caller_state import CALLER, after, expect_unchanged
from contracts.shared.requests import ExecRequest

HERE = "exec.concurrent"


def outcomes(case: ExecCase) -> list[ExecRequest]:
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
        {"program": P.exit_with, "args": ["0"], "current_dir": str(case.tmp / "missing")},
        *(run for needed, run in by_capability(null) if needed in case.capabilities),
    ]


def by_capability(null: str) -> list[tuple[str, ExecRequest]]:
    """Return requests that only some implementations support, each with the capability that it
    needs."""
    more = b"more than it may write".hex()
    unread: ExecRequest = {"stdin": {"bytes": "x" * 200_000}, "stdin_failure": "ignore"}
    return [
        ("exec.debug", {"program": P.emit, "args": ["--out", more], "debug": True}),
        ("exec.cap", {"program": P.emit, "args": ["--out", more], "max_output_bytes": 4}),
        (
            "exec.stdin_failure",
            {"program": P.close_early, "args": [null, "--in", "--then", "exit:0"]} | unread,
        ),
    ]


def zombies(shim: ShimProcess[ObservedBatch]) -> int:
    return sum(not each.alive for each in shim.tree())


COUNTED: dict[str, Callable[[ShimProcess[ObservedBatch]], int]] = {
    "descriptors": lambda shim: shim.status().fd_count,
    "zombies": zombies,
    "threads": lambda shim: shim.status().threads,
}

# The count of each named resource.
Counts = Mapping[str, int]

# Each measurement begins with this many runs at the same time, because an implementation may keep
# the resources of its busiest moment for reuse.
PEAK = 24
# The number of rounds over all outcomes in the two measurements.
FEW, MANY = 2, 10
# How much the count may grow in total, and how long all runs may take to return on a busy machine.
MORE, RETURN_S = 3, 6.0


def count_after_runs(case: ExecCase, rounds: int, names: Sequence[str], enough: Counts) -> Counts:
    """Return the smallest counts of the named resources that a caller has after all runs.

    Stop early if each count is at most `enough`.
    """
    try:
        return counted(case, rounds, names, enough)
    except (Failure, ShimBroke):
        # If a run does not return even without other runs, another requirement reports this.
        for run in outcomes(case):
            if not returns(case, run):
                name = Path(str(run["program"])).name
                raise NotMeasured(f"a run of {name} never returns") from None
        raise


def returns(case: ExecCase, run: ExecRequest) -> bool:
    try:
        case.exec.run(**run, expect_result=False, within_s=10)
    except (Failure, ShimBroke):
        return False
    return True


def counted(case: ExecCase, rounds: int, names: Sequence[str], enough: Counts) -> Counts:
    events = case.events(f"{rounds}-rounds")
    fifo = case.fifo(f"open-{rounds}-rounds")
    gate: ExecRequest = {"program": P.gate, "args": [events.path, str(fifo)]}
    after: list[Run] = [(600 + 25 * n, run) for n, run in enumerate(outcomes(case) * rounds)]
    with case.exec.start_batch([*[gate] * PEAK, *after], within_s=28, hold=True) as shim:
        # If an implementation makes the runs one after the other, PEAK runs never exist at once.
        # Its leaks are measured anyway.
        until(lambda: len(events.all("ready")) == PEAK, 10)
        open_gate_for_all(fifo, lambda: shim.running and not shim.exchange.in_place)
        # Wait for all runs: a run that has not returned may leak later.
        shim.wait_response()
        least = {what: COUNTED[what](shim) for what in names}

        def are_enough() -> bool:
            for what in names:
                least[what] = min(least[what], COUNTED[what](shim))
            return all(least[what] <= enough.get(what, 0) for what in names)

        # A run may return a moment after its child has ended, so the counts may still fall. The
        # minimum over some time is the leak.
        until(are_enough, RETURN_S if enough else 1.5)
        shim.finish()
    return least


def expect_no_growth(case: ExecCase, *names: str) -> None:
    """Expect that many runs leave no more of the named resources than few runs."""
    few = count_after_runs(case, FEW, names, {})
    many = count_after_runs(case, MANY, names, few)
    each = len(outcomes(case))
    for what in names:
        of = f"{what} of the caller after {MANY * each} runs, beyond those after {FEW * each}"
        expect(of, many[what] - few[what], at_most(MORE))


@requires(
    "EXEC-LEAK-01",
    pitfalls=["C8", "C10"],
    capability=HERE,
    overlap=8.0,
    stress=96,
    needs=["EXEC-STDIN-09"],
)
def test_descriptors_and_zombies_do_not_grow_with_the_runs(case: ExecCase) -> None:
    expect_no_growth(case, "descriptors", "zombies")


@requires(
    "EXEC-LEAK-02",
    pitfalls=["C9"],
    capability=HERE,
    overlap=8.0,
    stress=96,
    needs=["EXEC-STDIN-09"],
)
def test_threads_do_not_grow_with_the_runs(case: ExecCase) -> None:
    expect_no_growth(case, "threads")


def crossed(case: ExecCase) -> list[ExecRequest]:
    """Return a request for each option, combined with each way to end that the option may
    change."""
    sleeps: ExecRequest = {"program": P.slow_exit, "args": ["/dev/null", "3000"], "timeout_ms": 60}
    ways: list[ExecRequest] = [
        {"program": str(case.tmp / "absent")},
        {"program": P.exit_with, "args": ["0"], "current_dir": str(case.tmp / "missing")},
        sleeps,
        {"program": P.die_by, "args": ["TERM"]},
    ]
    options: list[tuple[str, ExecRequest]] = [
        ("exec", {"stdin": "null"}),
        ("exec", {"stdin": b"x" * 200_000}),
        ("exec", {"stdin": b""}),
        ("exec.debug", {"debug": True}),
        ("exec.cap", {"max_output_bytes": 2**32}),
        ("exec", {"current_dir": "/"}),
    ]
    both: list[ExecRequest] = [
        {**option, **way}
        for way in ways
        for needed, option in options
        if needed in case.capabilities
    ]
    if "exec.cap" in case.capabilities:
        both.append(
            {
                "program": "/bin/sh",
                "args": ["-c", '"$1" 99 0; exec sleep 60', "sh", P.flood],
                "max_output_bytes": 9,
                "stdin": b"x" * 200_000,
            }
        )
    return both


def grown_by(case: ExecCase, rounds: int) -> dict[str, int]:
    """Return counts of the resources that a caller holds after `rounds` rounds of runs.

    Each count is the minimum over a short time.
    """
    # All combinations of a round run at once.
    requests = crossed(case)
    runs: list[Run] = [(180 * n, run) for n in range(rounds) for run in requests]
    with case.exec.start_batch(runs, within_s=28, hold=True) as shim:
        shim.wait_response()
        found = [{what: count(shim) for what, count in COUNTED.items()}]
        until(
            lambda: (
                bool(found.append({what: count(shim) for what, count in COUNTED.items()}))
                or len(found) > 40
            ),
            0.6,
        )
        shim.finish()
    return {what: min(each[what] for each in found) for what in COUNTED}


@requires(
    "EXEC-LEAK-01",
    "EXEC-LEAK-02",
    pitfalls=["C8", "C9", "C10"],
    capability=HERE,
    overlap=4.0,
    needs=["EXEC-STDIN-09"],
)
def test_each_option_leaks_nothing_however_the_run_ends(case: ExecCase) -> None:
    few, many = grown_by(case, 2), grown_by(case, 8)
    more = {what: many[what] - few[what] for what in COUNTED}
    leaks = {what: count for what, count in more.items() if count > MORE}
    expect(
        "growth of the caller over six rounds of all options and ends",
        leaks,
        {},
        {"few": few, "many": many},
    )


def after_stolen_children(case: ExecCase, count: int) -> tuple[int, int]:
    """Make `count` runs whose children another part of the caller reaps.

    Return the number of wait errors, and of descriptors after them.
    """
    options: list[ExecRequest] = [
        {"program": P.slow_exit, "args": ["/dev/null", "60"], "stdin": "null"},
        {"program": P.slow_exit, "args": ["/dev/null", "60"], "stdin": b"x" * 200_000},
    ]
    runs: list[Run] = [(60 * n, options[n % 2]) for n in range(count)]
    state = ["--preload", P.preload("steal_child")]
    with case.exec.start_batch(runs, state=state, within_s=28, hold=True) as shim:
        shim.wait_response()
        if not shim.has_preload("steal_child"):
            raise NotApplicable("no library can be loaded into a static shim")
        found = [shim.status().fd_count]
        until(lambda: bool(found.append(shim.status().fd_count)) or len(found) > 40, 0.6)
        errors = [wait_outcome(run) for run in shim.finish().runs if not run.ok]
    return errors.count(("execution", WAIT_ERROR)), min(found)


@requires("EXEC-LEAK-01", pitfalls=["D9"], capability=HERE, overlap=2.5, needs=["EXEC-WAIT-04"])
def test_runs_whose_children_another_waiter_reaps_leak_no_descriptor(case: ExecCase) -> None:
    (_, few), (errors, many) = after_stolen_children(case, 2), after_stolen_children(case, 14)
    if errors < 8:
        raise Late("children that another waiter reaps", "at least 8 of 14", str(errors))
    expect("descriptors of the caller after 12 further runs", many - few, at_most(MORE))


# How a run ends. The kit compares the state of its caller afterwards.
LEAVING: dict[str, ExecRequest] = {
    "an exit": {"program": "/bin/true"},
    "a failed spawn": {"program": "/boxspec/no/such"},
    "a deadline": {"program": "/bin/sleep", "args": ["60"], "timeout_ms": 50},
    "a failed write": {"program": "/bin/true", "stdin": b"x" * 200_000},
}


@requires("EXEC-LEAK-03")
@pytest.mark.parametrize("how", LEAVING)
def test_after_a_run_the_state_of_the_caller_is_as_before(case: ExecCase, how: str) -> None:
    held = case.exec.start(**LEAVING[how], hold=True, expect_result=False, state=CALLER)
    expect_unchanged(case, after(held))
