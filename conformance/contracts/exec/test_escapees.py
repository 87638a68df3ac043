"""Processes outside the group that hold the pipes of a run, and failed starts, which must print
nothing."""

from __future__ import annotations

import pytest

from boxspec.api import Late, NotMeasured, expect, expect_within, requires
from boxspec.api import programs as P
from contracts.exec.answers import ObservedRun
from contracts.exec.client import ExecCase
from contracts.exec.moments import (
    FOREVER_MS,
    LINGER_MS,
    annotated,
    attempted,
    elapsed_ms,
    send,
    settled,
    until,
)
from contracts.exec.spawn_io import SPAWN_FAILURE, outcome
from contracts.shared.requests import ExecRequest, Limits

WAYS = {"own_session": ["--setsid"], "own_group": ["--setpgid"], "daemon": ["--setsid", "--double"]}


@pytest.mark.parametrize("how", WAYS)
@requires("EXEC-DRAIN-08", pitfalls=["I9"], overlap=1.5, timing=True)
def test_a_daemon_that_holds_the_pipes_does_not_block_the_run(case: ExecCase, how: str) -> None:
    events = case.events()
    seen = case.exec.run(program=P.orphan, args=[events.path, *WAYS[how]], within_s=12)
    expect_within(
        case,
        "from the child's end to the shim's",
        events.wait("end").cause,
        seen.end,
        LINGER_MS + case.tick_ms,
    )


@pytest.mark.parametrize("how", WAYS)
@requires("EXEC-KILL-11", pitfalls=["B8"], overlap=1.5, needs=["EXEC-DRAIN-08"])
def test_a_daemon_that_holds_the_pipes_lives_on(case: ExecCase, how: str) -> None:
    events = case.events()
    seen = case.exec.run(program=P.orphan, args=[events.path, *WAYS[how]], within_s=12)
    daemon = events.wait("orphan").pid
    alive = daemon in {process.pid for process in seen.lasting}
    expect("whether the process that holds the pipes is alive after the run", alive, True)


@requires("EXEC-DRAIN-08", pitfalls=["G16"], overlap=2.5, timing=True, needs=["EXEC-SIGNAL-01"])
def test_an_escapee_that_holds_the_pipes_does_not_block_an_interrupted_run(case: ExecCase) -> None:
    # The run is ended by a signal in place of a deadline. Both end a run in the same way, and the
    # test knows the time of a signal.
    events, leader = case.events(), case.events("leader")
    script = f'"{P.orphan}" "$0" --setsid; exec "{P.slow_exit}" "$1" {FOREVER_MS}'
    with case.exec.start(
        program="/bin/sh", args=["-c", script, events.path, leader.path], within_s=15
    ) as shim:
        leader.wait("ready")
        if not events.all("orphan"):
            raise NotMeasured("the process outside the group did not start")
        sent = shim.signal("TERM")
        seen = shim.finish()
    expect_within(
        case,
        "from the signal to the end of the run",
        sent,
        seen.end,
        LINGER_MS + 2 * case.tick_ms,
    )


INTERRUPTIONS: dict[str, tuple[str | None, Limits]] = {
    "deadline": (None, {"timeout_ms": 900}),
    "SIGTERM": ("TERM", {}),
    "SIGINT": ("INT", {}),
}


def interrupted(case: ExecCase, how: str, keep: str = "out,err") -> ObservedRun:
    """Interrupt a run in the way `how`.

    A process outside the group has already written and holds the pipes.
    """
    name, limit = INTERRUPTIONS[how]
    events, leader = case.events("escapee"), case.events("leader")
    script = f'"{P.say}" escaped; "{P.orphan}" "$0" --setsid --keep {keep}'
    line = f'{script}; exec "{P.slow_exit}" "$1" {FOREVER_MS}'
    with case.exec.start(
        program="/bin/sh", args=["-c", line, events.path, leader.path], within_s=15, **limit
    ) as shim:
        if name:
            leader.wait("ready")
            shim.signal(name)
        seen = shim.finish()
    settled(leader)
    attempted(events, orphan=1)
    return seen


@pytest.mark.parametrize("keep", ["out", "err"])
@pytest.mark.parametrize("how", INTERRUPTIONS)
@requires("EXEC-DRAIN-09", capability="exec.termination", overlap=2.5, needs=["EXEC-KILL-01"])
def test_detached_writers_is_true_after_an_interrupted_run(
    case: ExecCase, how: str, keep: str
) -> None:
    seen = interrupted(case, how, keep)
    expect("detached_writers", seen.result["detached_writers"], True)


@pytest.mark.parametrize("how", INTERRUPTIONS)
@requires("EXEC-DRAIN-08", overlap=2.5, needs=["EXEC-KILL-01"])
def test_output_of_an_escapee_is_kept_after_an_interrupted_run(case: ExecCase, how: str) -> None:
    seen = interrupted(case, how)
    expect("stdout", seen.stdout, b"escaped")


# Limit for the time from the leader's end to the return: longer than the deadline and LINGER_MS
# together.
RETURNS_S = 4


@requires("EXEC-TIMEOUT-10", pitfalls=["G16"], overlap=1.6)
def test_a_deadline_after_the_childs_exit_does_not_change_the_result(case: ExecCase) -> None:
    events, timeout_ms = case.events(), 700
    args = [events.path, "--setsid", "--exit", "5"]
    with case.exec.start(program=P.orphan, args=args, timeout_ms=timeout_ms, within_s=12) as shim:
        escapee = events.wait("orphan").pid
        end = events.wait("end").t_ns
        # An implementation that waits until the pipes are closed violates only EXEC-DRAIN-08. So
        # the process that holds the pipes is killed after RETURNS_S.
        until(lambda: not shim.running, RETURNS_S)
        send(escapee, "KILL")
        seen = shim.finish()
    got = (seen.result["success"], seen.result["exit_code"], annotated(seen.stderr))
    # This is an upper bound of the child's life, because the child starts after the shim. Inside a
    # sandbox the child is a launcher, and only the end of the shim is known.
    last = end if case.exec.inside.name is None else seen.end.t_ns
    lived_ms = elapsed_ms(seen.start.t_ns, last)
    if lived_ms >= timeout_ms and got == (False, None, True):
        raise Late("the child ends before its deadline", f"under {timeout_ms} ms", f"{lived_ms} ms")
    expect("success, exit_code and annotation of a child that exited", got, (False, 5, False))


FAILURES: dict[str, ExecRequest] = {
    "missing_program": {"program": "/no/such/program"},
    "missing_name": {"program": "no-such-program-anywhere"},
}


@pytest.mark.parametrize("how", FAILURES)
@requires("EXEC-SPAWN-01", pitfalls=["J2"])
def test_a_failed_start_prints_nothing_and_leaves_nothing(case: ExecCase, how: str) -> None:
    # After a failed exec, a child that continues would write the caller's buffers a second time.
    seen = case.exec.run(**FAILURES[how], within_s=10)
    expect(
        "the run, the caller's stdout and stderr, and processes left running",
        (
            outcome(seen),
            seen.shim_stdout,
            seen.shim_stderr,
            [proc.describe() for proc in seen.survivors],
        ),
        (SPAWN_FAILURE, b"", b"", []),
    )
