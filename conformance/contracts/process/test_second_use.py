"""PROCESS-OPEN: a handle that is opened again, and several handles at the same time."""

from __future__ import annotations

import pytest

from boxspec.api import NotApplicable, expect, requires
from boxspec.api import programs as P
from contracts.process.client import ProcessCase, Step, StepResult, handle, step
from contracts.process.judging import CAT, RUNNING, Pause, asked, shell
from contracts.shared.moments import attempted

# Different steps between the first open of a handle and its drop. After the drop the handle is
# opened again.
USES: dict[str, list[Step]] = {
    "dropped": [],
    "waited for": [step("close_stdin"), step("wait")],
    "killed": [step("kill"), step("wait")],
    "terminated": [step("terminate"), step("wait")],
    "closed": [step("close")],
    "closed at once": [step("close", grace_ms=0)],
    "taken": [step("take", stream="stdin"), step("take", stream="stdout")],
    "looked at": [step("poll"), step("wait", timeout_ms=20)],
    "without stdin": [step("close_stdin")],
}


ALL_STREAMS = {"stdin": True, "stdout": True, "stderr": True}


@requires("PROCESS-OPEN-09", needs=["PROCESS-DROP-01"])
@pytest.mark.parametrize("use", USES)
def test_a_handle_that_is_opened_again_is_new(case: ProcessCase, use: str) -> None:
    first = [step("open"), *asked(b"first\n"), *USES[use], step("drop")]
    # A signal that was meant for the earlier process would end this one. The short wait would then
    # report an end.
    second = [step("open"), step("poll"), step("streams"), *asked(b"second\n")]
    second += [step("wait", timeout_ms=60), step("close_stdin"), step("wait"), step("close")]
    seen = case.process.script({"a": handle(CAT)}, [*first, *second], within_s=15)
    at = len(first)
    got = (seen.steps[at + 1 : at + 3], seen.data(at + 4), seen.steps[at + 5], seen.steps[at + 7 :])
    end: StepResult = {"exited": 0}
    closed: StepResult = {"exited": 0, "detached_writers": False}
    expect(
        "the second process: poll, streams, reply, poll, how it ended, close",
        got,
        ([RUNNING, ALL_STREAMS], b"second\n", RUNNING, [end, closed]),
    )


# Steps that do not return before the process ends. The process ignores SIGTERM and neither reads
# nor writes.
HELD_UP: dict[str, Step] = {
    "a wait": step("wait", "held", thread="t"),
    "a wait with a limit": step("wait", "held", timeout_ms=60_000, thread="t"),
    "a close": step("close", "held", grace_ms=60_000, thread="t"),
    "a write": step("write", "held", data=b"x" * 2**21, thread="t"),
    "a read": step("read_eof", "held", stream="stdout", thread="t"),
}


@requires("PROCESS-OPEN-05", needs=["PROCESS-OPEN-09"])
@pytest.mark.parametrize("what", HELD_UP)
def test_a_step_that_waits_holds_up_no_other_handle(case: ProcessCase, what: str) -> None:
    events, pause = case.events(), Pause(case)
    # The short wait lets the other thread begin its step.
    begins = [step("open"), step("wait", timeout_ms=100)]
    first = [step("open", "held"), *pause.steps, HELD_UP[what], *begins, *asked(b"x\n")]
    first += [step("poll"), step("wait", timeout_ms=20), step("terminate"), step("wait")]
    again = [step("drop"), step("open"), step("kill"), step("wait"), step("close"), step("drop")]
    last = [step("kill", "held"), step("join", thread="t"), step("wait", "held")]
    # The held process does not read stdin: a wait closes stdin, and in a sandbox the end of input
    # could end a reader before the signal arrives.
    held = handle(P.siglog, [events.path, "--ignore", "TERM"])
    handles = {"a": shell("cat; exec sleep 60"), "held": held, pause.name: pause.handle}
    with case.process.start(handles, [*first, *again, *last], within_s=20) as shim:
        events.wait("ready")
        pause.reached()
        pause.go_on()
        seen = shim.finish()
    at = len(first)
    got = (seen.data(7), seen.steps[at - 1], seen.steps[at + 3], seen.steps[-1])
    ends: list[StepResult] = [{"signaled": f"SIG{name}"} for name in ("TERM", "KILL", "KILL")]
    expect(
        "an answer, and how the children of the other handle and of this one ended",
        got,
        (b"x\n", *ends),
    )


@requires("PROCESS-OPEN-09", needs=["PROCESS-CLOSE-02"])
def test_detached_writers_of_an_earlier_process_are_not_reported(case: ProcessCase) -> None:
    if case.process.inside.name is not None:
        raise NotApplicable(
            "every process inside ends with its program, so no process can hold the pipes"
        )
    # Only the first process leaves a writer outside its group. The second process must not be
    # blamed for it.
    mark, events = case.tmp / "mark", case.events()
    line = '[ -e "$1" ] && exit 0; : >"$1"; exec "$2" "$3" --setsid --keep out'
    rounds = [step("open"), step("wait"), step("close"), step("drop")]
    words = (mark, P.orphan, events.path)
    seen = case.process.script({"a": shell(line, *words)}, [*rounds, *rounds], within_s=15)
    attempted(events, orphan=1)
    got = [seen.steps[at].get("detached_writers") for at in (2, 6)]
    expect("detached_writers of the first and of the second process", got, [True, False])
