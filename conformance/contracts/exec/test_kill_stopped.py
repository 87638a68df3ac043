"""EXEC-KILL-06 to EXEC-KILL-08: stopped processes, and processes without their main thread."""

from __future__ import annotations

import pytest

from boxspec.api import expect, expect_within, requires
from boxspec.api import programs as P
from boxspec.subject.observe import procs
from contracts.exec.caller_signals import signal_caller
from contracts.exec.client import ExecCase
from contracts.exec.moments import SETTLED_MS, expect_none_left, settled, until


@pytest.mark.parametrize("extra", [[], ["--ignore", "TERM"]], ids=["mortal", "stubborn"])
@requires("EXEC-KILL-06", pitfalls=["G7"], overlap=6.0, timing=True)
def test_a_stopped_child_is_gone_by_the_end_of_the_grace(case: ExecCase, extra: list[str]) -> None:
    events = case.events()
    with case.exec.start(
        program=P.stop_self, args=[events.path, *extra], timeout_ms=400, within_s=20
    ) as shim:
        stopping = events.wait("stopping")
        seen = shim.finish()
    expect_none_left(seen, events, stopping=1)
    expect_within(
        case,
        "from the child's stop to the end of the run",
        stopping.effect,
        seen.end,
        400 + case.tick_ms + case.grace_ms + case.tick_ms,
    )


@requires("EXEC-KILL-07", pitfalls=["G7"], overlap=1.0, timing=True, needs=["EXEC-KILL-01"])
def test_a_stopped_child_can_act_on_its_sigterm_at_once(case: ExecCase) -> None:
    events = case.events()
    with case.exec.start(
        program=P.stop_self, args=[events.path], timeout_ms=400, within_s=20
    ) as shim:
        stopping = events.wait("stopping")
        seen = shim.finish()
    expect_within(
        case,
        "from the child's stop to the end of the run",
        stopping.effect,
        seen.end,
        400 + 2 * case.tick_ms,
    )


@requires(
    "EXEC-KILL-07", pitfalls=["G7", "H20"], overlap=1.0, timing=True, needs=["EXEC-SIGNAL-01"]
)
def test_a_stopped_child_can_act_on_the_callers_sigterm_at_once(case: ExecCase) -> None:
    events = case.events()
    with case.exec.start(
        program=P.stop_self, args=[events.path], expect_result=False, within_s=20
    ) as shim:
        child = events.wait("stopping").pid
        until(lambda: (found := procs.proc(child)) is not None and found.state == "T")
        sent, seen = signal_caller(case, shim)
    what = "from the signal to the end of the run"
    expect_within(case, what, sent, seen.end, 2 * case.tick_ms)


@requires("EXEC-KILL-07", pitfalls=["G7"], overlap=1.4, timing=True, needs=["EXEC-KILL-01"])
def test_a_stopped_member_can_act_on_its_sigterm_at_once(case: ExecCase) -> None:
    events = case.events()
    script = f'"{P.stop_self}" "$0" & exec "{P.siglog}" "$0" --on TERM:exit:0'
    with case.exec.start(
        program="/bin/sh", args=["-c", script, events.path], timeout_ms=SETTLED_MS, within_s=20
    ) as shim:
        member = events.wait("stopping").pid
        events.wait("ready")
        until(lambda: (found := procs.proc(member)) is None or found.state == "T")
        sigterm = events.wait("signal", timeout_s=15)
        seen = shim.finish()
    what = "from the leader's SIGTERM to the end of the run"
    expect_within(case, what, sigterm.effect, seen.end, 2 * case.tick_ms)


@requires("EXEC-KILL-08", pitfalls=["I12"], overlap=2.4, needs=["EXEC-KILL-01", "EXEC-KILL-02"])
def test_a_child_whose_main_thread_has_ended_is_waited_for(case: ExecCase) -> None:
    events = case.events()
    case.exec.run(program=P.threaded, args=[events.path], timeout_ms=500, within_s=20)
    settled(case.events())
    expect(
        "how often the other thread ended without being killed",
        len(events.all("end")),
        1,
        evidence={"events": [str(event) for event in events.all()]},
    )


@requires("EXEC-KILL-08", pitfalls=["I12"], overlap=2.7, needs=["EXEC-KILL-01", "EXEC-KILL-02"])
def test_a_member_whose_main_thread_has_ended_is_waited_for(case: ExecCase) -> None:
    # SIGTERM ends the leader at once. In /proc the remaining member looks like a zombie, although
    # another thread of it runs.
    events = case.events()
    script = f'"{P.threaded}" "$0" & exec "{P.slow_exit}" /dev/null 60000'
    case.exec.run(
        program="/bin/sh", args=["-c", script, events.path], timeout_ms=SETTLED_MS, within_s=20
    )
    settled(case.events())
    expect(
        "how often the other thread ended without being killed",
        len(events.all("end")),
        1,
        evidence={"events": [str(event) for event in events.all()]},
    )
