"""PROCESS: a step of one thread acts on a handle while a step of another thread waits for it."""

from __future__ import annotations

import pytest

from boxspec.api import Late, expect, expect_within, requires
from boxspec.api import programs as P
from boxspec.subject.observe import procs
from contracts.process.client import ProcessCase, Script, Step, handle, step
from contracts.process.judging import CAT, RUNNING, Pause, asked, woken_by
from contracts.shared.moments import pass_time

LONG_MS = 60_000


@requires("PROCESS-KILL-01")
@pytest.mark.parametrize(
    ("how", "name"),
    [("terminate", "SIGTERM"), ("kill", "SIGKILL"), ("close", "SIGTERM"), ("drop", "SIGKILL")],
)
def test_a_wait_with_a_limit_reports_the_end_that_another_thread_caused(
    case: ProcessCase, how: str, name: str
) -> None:
    waits = step("wait", thread="w", timeout_ms=LONG_MS)
    expect("the answer of the wait", woken_by(case, step(how), waits), {"signaled": name})


@requires("PROCESS-KILL-01", needs=["PROCESS-CLOSE-01"])
def test_a_kill_ends_the_grace_of_a_close(case: ProcessCase) -> None:
    seen = _beside_a_close(case, LONG_MS, step("kill"))
    expect("how the child ended", seen.steps[3].get("signaled"), "SIGKILL")


@requires("PROCESS-DROP-01", needs=["PROCESS-CLOSE-01"])
def test_a_drop_does_not_wait_for_the_grace_of_a_close(case: ProcessCase) -> None:
    # The grace is longer than the time that the script has, so a drop that waits for it hangs.
    seen = _beside_a_close(case, LONG_MS, step("drop"))
    expect("the end that the close reports", seen.steps[3].get("signaled"), "SIGKILL")


@requires("PROCESS-CLOSE-01", overlap=2.5, timing=True, needs=["PROCESS-KILL-01"])
def test_a_terminate_does_not_extend_the_grace_of_a_close(case: ProcessCase) -> None:
    seen = _beside_a_close(case, 1500, step("terminate"), after_ms=900)
    told = [each for each in case.events().all("signal") if each.rest[0] == "TERM"]
    expect("how the child ended", seen.steps[3].get("signaled"), "SIGKILL")
    if len(told) < 2:
        raise Late("the terminate comes in the grace period", "2 SIGTERMs", f"{len(told)}")
    limit = 1500 + 5 * case.tick_ms
    expect_within(case, "from the first SIGTERM to the end", told[0].effect, seen.end, limit)


def _beside_a_close(case: ProcessCase, grace_ms: int, last: Step, after_ms: int = 0) -> Script:
    """Run `last` during the grace period of a close of another thread. Step 3 is the close."""
    events, ready, pause = case.events(), Pause(case, "ready"), Pause(case)
    child = handle(P.siglog, [events.path])
    handles = {"a": child, ready.name: ready.handle, pause.name: pause.handle}
    closes = step("close", grace_ms=grace_ms, thread="c")
    steps = [step("open"), *ready.steps, closes, *pause.steps, last, step("join", thread="c")]
    with case.process.start(handles, steps, within_s=20) as shim:
        events.wait("ready")
        ready.reached()
        ready.go_on()
        events.wait("signal")
        pause.reached()
        pass_time(after_ms)
        pause.go_on()
        return shim.finish()


@requires("PROCESS-WAIT-03", needs=["PROCESS-KILL-01"])
@pytest.mark.parametrize("limit_ms", [0, 20])
def test_a_limit_applies_while_another_thread_waits(case: ProcessCase, limit_ms: int) -> None:
    pause = Pause(case)
    handles = {"a": handle("/bin/sleep", ["60"]), pause.name: pause.handle}
    look = step("wait", timeout_ms=limit_ms)
    waits = step("wait", thread="w")
    steps = [step("open"), waits, *pause.steps, look, step("kill"), step("join", thread="w")]
    with case.process.start(handles, steps, within_s=15) as shim:
        pause.reached()
        procs.blocked_at_rest(shim.shim_pid)
        pause.go_on()
        seen = shim.finish()
    expect("the answer of the wait with a limit", seen.steps[4], RUNNING)


@requires("PROCESS-WAIT-03", overlap=2.0, timing=True, needs=["PROCESS-KILL-01"])
def test_a_signal_of_another_thread_does_not_extend_a_limit(case: ProcessCase) -> None:
    events, limit_ms, after_ms = case.events(), 1500, 900
    # The child lives until the second pause, so that it logs a SIGTERM that comes late, too.
    pause, over = Pause(case), Pause(case, "over")
    handles = {"a": handle(P.siglog, [events.path])}
    handles |= {each.name: each.handle for each in (pause, over)}
    waits = step("wait", timeout_ms=limit_ms, thread="w")
    ends = [step("terminate"), step("join", thread="w"), *over.steps, step("kill"), step("wait")]
    steps = [step("open"), waits, *pause.steps, *ends]
    with case.process.start(handles, steps, within_s=20) as shim:
        events.wait("ready")
        pause.reached()
        pass_time(after_ms)
        pause.go_on()
        told = events.wait("signal").effect
        ended = over.reached().effect
        over.go_on()
        seen = shim.finish()
    expect("the answer of the wait", seen.steps[1], RUNNING)
    left_ms = limit_ms - after_ms + 5 * case.tick_ms
    expect_within(case, "from the SIGTERM to the end of the wait", told, ended, left_ms)


@requires("PROCESS-OPEN-05")
@pytest.mark.parametrize("how", ["close", "wait"])
def test_a_drop_closes_no_stream_of_a_later_process(case: ProcessCase, how: str) -> None:
    """Open a process after the end of another one, so that its streams may have the same numbers,
    and then drop the handle of the earlier process."""
    first = [step("open"), *asked(b"x\n"), step("kill"), step(how), step("open", "b")]
    steps = [*first, step("drop"), *asked(b"y\n", "b"), step("close", "b")]
    seen = case.process.script({"a": handle(CAT), "b": handle(CAT)}, steps, within_s=15)
    expect("the answer of the later process", seen.data(len(first) + 2), b"y\n")
