"""EXEC-SIGNAL: the caller has its handlers from before the spawn until the end of the run."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from functools import partial

import pytest

from boxspec.api import Blocked, Late, NotMeasured, ShimProcess, expect, expect_within, requires
from boxspec.api import programs as P
from boxspec.subject.observe import procs
from boxspec.subject.observe.events import Events
from boxspec.subject.observe.lines import Deadline, poll
from contracts.exec.answers import ObservedRun
from contracts.exec.caller_signals import CODE, SIGNALS
from contracts.exec.client import ExecCase, RunOptions
from contracts.exec.moments import FOREVER_MS, annotated, need_preload, until
from contracts.exec.theft import RACES
from contracts.shared.after_effects import expect_acts_as_before, expect_swallowed_before, swallows
from contracts.shared.requests import ExecRequest


def at_moment(t_ns: int) -> None:
    """Sleep until that time.

    The test varies the moment of a signal in a race, so there is no event for which it could wait.
    """
    while (left_ns := t_ns - time.monotonic_ns()) > 0:
        poll([], max(0.0, left_ns / 1e9 - 0.001))


def start_up_ns(case: ExecCase) -> int:
    """Return the time from the shim's start to the first instruction of its child.

    It is the shorter of two measurements.
    """
    took = []
    for name in ("start-up-1", "start-up-2"):
        events = case.events(name)
        with case.exec.start(program=P.slow_exit, args=[events.path, "0"]) as shim:
            took.append(events.wait("ready").t_ns - shim.t_started_ns)
            shim.finish()
    return min(took)


def is_ready_or_gone(shim: ShimProcess[ObservedRun], events: Events) -> bool:
    return not shim.running or bool(events.all("ready"))


def left_behind(seen: ObservedRun) -> list[str]:
    """Return the children that survived the run. Processes of a wrapper script of the shim are left
    out."""
    return [proc.describe() for proc in seen.lasting if P.slow_exit.encode() in proc.cmdline]


@pytest.mark.parametrize("name", SIGNALS)
@requires("EXEC-SIGNAL-08", pitfalls=["H9"], overlap=3.0, stress=20)
def test_a_signal_at_the_start_never_leaves_a_child(case: ExecCase, name: str) -> None:
    luck = random.Random(f"{case.session.seed} {name}")
    start_up = start_up_ns(case)
    left: list[str] = []
    ends: Counter[str] = Counter()
    started = 0
    for number in range(20):
        events = case.events(f"events-{number}")
        with case.exec.start(
            program=P.slow_exit,
            args=[events.path, FOREVER_MS],
            expect_result=False,
            within_s=10,
        ) as shim:
            at_moment(shim.t_started_ns + int(luck.uniform(0.2, 1.6) * start_up))
            shim.signal(name)
            # A wrapper script of the shim may ignore a signal. Once the child runs, the shim has
            # its own handler.
            until(partial(is_ready_or_gone, shim, events))
            shim.signal(name)
            seen = shim.finish()
        started += len(events.all("ready"))
        events.close()
        left += left_behind(seen)
        ends[str(seen.result["exit_code"] if seen.ok else seen.shim_exit)] += 1
    if not started:
        raise Late("a signal comes after the child's first instruction", "one of 20", "none")
    expect("children left by twenty interrupted starts", left, [], evidence=dict(ends))


@requires("EXEC-SIGNAL-08", pitfalls=["D3"], overlap=3.0, stress=8)
def test_many_signals_to_the_callers_group_during_a_spawn_leave_no_child(
    case: ExecCase,
) -> None:
    left: list[str] = []
    children = 0
    for _ in range(8):
        with case.exec.start(
            program=P.slow_exit, args=["/dev/null", FOREVER_MS], expect_result=False, within_s=10
        ) as shim:
            # There is no child to leave until the first child has its own group.
            limit = Deadline(5)
            while shim.running and not limit.over():
                if any(each.pgid != shim.shim_pid for each in shim.tree()):
                    children += 1
                    break
            for _ in range(200):
                shim.signal_group("TERM")
            seen = shim.finish()
        left += left_behind(seen)
    if not children:
        raise Blocked(["EXEC-CHILD-01"], "no child led a process group of its own")
    expect("children left by eight starts under many signals", left, [])


def destination_of_signal(
    shim: ShimProcess[ObservedRun], seen: ObservedRun, name: str, termination: bool
) -> str:
    """Return whether the signal was reported in the result, acted on the caller, or had no
    effect."""
    if not seen.ok:
        return "killed before the response" if seen.shim_exit[0] == "killed" else "no response"
    result, noted = seen.result, annotated(seen.stderr)
    got = (result["success"], result["exit_code"], noted)
    if got == (False, CODE[name], True):
        return "the result is the signal's"
    if got != (True, 0, False):
        return f"mixture {got}"
    if result.get("pending_signals") == [f"SIG{name}"]:
        return "listed as pending"
    if seen.shim_exit != ("exited", 0):
        return "acted on the caller after the run"
    return "swallowed" if termination else "not reported"


GOOD = {
    "killed before the response",
    "the result is the signal's",
    "listed as pending",
    "acted on the caller after the run",
    "not reported",
}


@pytest.mark.parametrize("name", SIGNALS)
@requires("EXEC-SIGNAL-08", pitfalls=["H10"], overlap=3.0, stress=20)
def test_a_signal_around_the_childs_end_is_not_lost(case: ExecCase, name: str) -> None:
    # After the run the shim waits at the fifo `hold`, so that a late signal still reaches the
    # caller.
    luck = random.Random(f"{case.session.seed} {name} end")
    termination = "exec.termination" in case.capabilities
    went: Counter[str] = Counter()
    for _ in range(20):
        events = case.events(f"events-{sum(went.values())}")
        with case.exec.start(
            program=P.slow_exit,
            args=[events.path, "20"],
            hold=True,
            expect_result=False,
            within_s=10,
        ) as shim:
            ready = events.wait("ready")
            at_moment(ready.t_ns + 20_000_000 + luck.randint(-1_000_000, 3_000_000))
            shim.signal(name)
            seen = shim.finish()
        events.close()
        went[destination_of_signal(shim, seen, name, termination)] += 1
    expect(
        "targets of signals that must not get any",
        sorted(set(went) - GOOD),
        [],
        evidence=dict(went),
    )


OUTCOMES: dict[str, ExecRequest] = {
    "exit": {"program": "exit_with", "args": ["3"]},
    "death": {"program": "die_by", "args": ["KILL"]},
    "deadline": {"program": "slow_exit", "args": ["/dev/null", "1500"], "timeout_ms": 50},
    "spawn_failure": {"program": "/no/such/program"},
    "stdin_failure": {
        "program": "close_early",
        "args": ["/dev/null", "--in", "--then", "exit:0"],
        "stdin": {"bytes": "x" * 200_000},
    },
    "signal": {"program": "slow_exit", "args": ["", FOREVER_MS]},
}


def held_after(case: ExecCase, how: str, state: list[str]) -> ShimProcess[ObservedRun]:
    """Return a shim that waits at the fifo `hold` after a run with that outcome."""
    request = OUTCOMES[how].copy()
    program = str(request["program"])
    request["program"] = program if program.startswith("/") else getattr(P, program)
    events = case.events()
    if how == "signal":
        request["args"] = [events.path, FOREVER_MS]
    held: RunOptions = {"hold": True, "expect_result": False, "within_s": 12, "state": state}
    shim = case.exec.start(**(held | request))
    if how == "signal":
        events.wait("ready")
        shim.signal("TERM")
    shim.wait_response()
    return shim


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("how", OUTCOMES)
@requires("EXEC-SIGNAL-09", pitfalls=["H11"], overlap=0.3)
def test_after_a_run_the_signal_acts_on_the_caller_as_before(
    case: ExecCase, how: str, name: str
) -> None:
    expect_acts_as_before(case, held_after(case, how, []), name)


@pytest.mark.parametrize("name", SIGNALS)
@requires("EXEC-SIGNAL-09", pitfalls=["H11"], overlap=1.0, needs=["EXEC-WAIT-04"])
def test_after_a_wait_error_the_signal_acts_on_the_caller_as_before(
    case: ExecCase, name: str
) -> None:
    for _ in range(RACES):
        with case.exec.start(
            program=P.slow_exit,
            args=["/dev/null", "60"],
            state=["--preload", P.preload("steal_child")],
            hold=True,
            expect_result=False,
            within_s=12,
        ) as shim:
            shim.wait_response()
            need_preload(shim, "steal_child")
            swallowed = swallows(shim, name)
            seen = shim.finish()
        if not seen.ok:
            expect_swallowed_before(case, swallowed, name)
            return
    raise NotMeasured("in each attempt the implementation reaped its child before the test could")


@pytest.mark.parametrize("how", OUTCOMES)
@requires("EXEC-SIGNAL-10", pitfalls=["H11", "H12"], overlap=0.3)
def test_ignored_signals_are_ignored_again_after_a_run(case: ExecCase, how: str) -> None:
    state, both = ["--ignore", "TERM", "--ignore", "INT"], {signal.SIGINT, signal.SIGTERM}
    with held_after(case, how, state) as shim:
        ignored = shim.status().mask("SigIgn") & both
    wanted: set[int] = {*both}
    if ignored != wanted:
        # The runtime of the shim may have installed handlers before any run.
        with case.idle(*state) as idle:
            wanted = idle.mask("SigIgn") & both
    expect("SIGINT and SIGTERM among the ignored signals", sorted(ignored), sorted(wanted))


@pytest.mark.parametrize("name", SIGNALS)
@requires("EXEC-SIGNAL-10", pitfalls=["H12"], overlap=0.3)
def test_ignored_signals_are_handled_during_a_run(case: ExecCase, name: str) -> None:
    # If the signal does not end the child, it ends by itself after 3 s.
    events = case.events()
    with case.exec.start(
        program=P.slow_exit,
        args=[events.path, "3000"],
        state=["--ignore", "TERM", "--ignore", "INT"],
        within_s=20,
    ) as shim:
        events.wait("ready")
        shim.signal(name)
        result = shim.finish().result
    expect("success and exit_code", (result["success"], result["exit_code"]), (False, CODE[name]))


def captured(shim: ShimProcess[ObservedRun]) -> int:
    """Return how many bytes the shim has read so far."""
    for line in (procs.read(f"/proc/{shim.shim_pid}/io") or b"").splitlines():
        if line.startswith(b"rchar:"):
            return int(line.split()[1])
    return 0


@pytest.mark.parametrize("name", SIGNALS)
@requires("EXEC-SIGNAL-11", pitfalls=["H21"], overlap=1.0, timing=True)
def test_a_flood_of_output_does_not_delay_the_signal(case: ExecCase, name: str) -> None:
    events = case.events()
    # `yes`, which writes the flood, leads the group and siglog runs in the background. siglog is
    # not affected by the shell, which ignores SIGINT in background jobs, because it installs its
    # own handlers.
    script = f'"{P.siglog}" "$0" --on {name}:exit:0 & exec yes'
    with case.exec.start(program="/bin/sh", args=["-c", script, events.path], within_s=20) as shim:
        events.wait("ready")
        if not until(lambda: captured(shim) > 2**20):
            raise Late("the flood gets going", "a MiB of output", "less")
        sent = shim.signal(name)
        signalled = events.wait("signal").effect
        shim.finish()
    expect_within(case, "from the signal to the child's own", sent, signalled, 2 * case.tick_ms)
