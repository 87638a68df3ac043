"""PROCESS-CLOSE: the grace period of a close is neither shortened nor extended."""

from __future__ import annotations

import pytest

from boxspec.api import at_least, expect, expect_within, requires
from boxspec.api import programs as P
from contracts.process.client import ProcessCase, handle, step
from contracts.process.judging import Pause, shell


@requires("PROCESS-CLOSE-01", overlap=2.5, needs=["PROCESS-KILL-02"])
def test_a_grace_does_not_end_early(case: ProcessCase) -> None:
    events, pause = case.events(), Pause(case)
    handles = {"a": handle(P.siglog, [events.path]), pause.name: pause.handle}
    steps = [step("open"), *pause.steps, step("close", grace_ms=1990)]
    with case.process.start(handles, steps, within_s=20) as shim:
        events.wait("ready")
        pause.reached()
        pause.go_on()
        told = events.wait("signal")
        seen = shim.finish()
    expect("how the child ended", seen.steps[3].get("signaled"), "SIGKILL")
    # Allow one tick, because a busy machine may deliver the SIGTERM late.
    took = (seen.end.t_ns - told.t_ns) / 1e6
    expect("time from SIGTERM to the end, in ms", took, at_least(1990 - case.tick_ms))


@requires("PROCESS-CLOSE-01", overlap=2.5, timing=True, needs=["PROCESS-KILL-02"])
def test_members_that_end_one_by_one_do_not_extend_the_grace(case: ProcessCase) -> None:
    events, pause = case.events(), Pause(case)
    rules = [f"TERM:exit:0:{ms}" for ms in (300, 700)]
    words = [events.path, "--members", "3", *(w for r in rules for w in ("--member-on", r))]
    handles = {"a": handle(P.siglog, words), pause.name: pause.handle}
    steps = [step("open"), *pause.steps, step("close", grace_ms=1000)]
    with case.process.start(handles, steps, within_s=20) as shim:
        events.wait("ready")
        pause.reached()
        pause.go_on()
        told = events.wait("signal").effect
        seen = shim.finish()
    expect("how the child ended", seen.steps[3].get("signaled"), "SIGKILL")
    # If the end of a member started the grace period again, it would last until 1,700 ms.
    expect_within(case, "from SIGTERM to the end", told, seen.end, 1550)


@requires("PROCESS-CLOSE-06", overlap=2.0, needs=["PROCESS-CLOSE-01"])
@pytest.mark.parametrize("who", ["leader", "member"])
def test_a_process_without_its_main_thread_has_the_grace(case: ProcessCase, who: str) -> None:
    events, pause = case.events(), Pause(case)
    alone = handle(P.threaded, [events.path])
    member = shell('"$1" "$2" & exec sleep 60', P.threaded, events.path)
    handles = {"a": alone if who == "leader" else member, pause.name: pause.handle}
    steps = [step("open"), *pause.steps, step("close", grace_ms=8000)]
    with case.process.start(handles, steps, within_s=20) as shim:
        events.wait("ready")
        pause.reached()
        pause.go_on()
        seen = shim.finish()
    ends = len(events.all("end"))
    expect(
        "how often the other thread ended without being killed", ends, 1, {"close": seen.steps[3]}
    )
