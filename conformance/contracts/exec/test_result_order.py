"""The result of a run in which the exit, the deadline, a signal or the output limit are noticed at
the same time."""

from __future__ import annotations

import pytest

from boxspec.api import Late, ShimProcess, expect, requires
from boxspec.api import programs as P
from boxspec.subject.observe import procs
from contracts.exec.answers import ObservedRun
from contracts.exec.client import ExecCase
from contracts.exec.moments import (
    annotated,
    attempted,
    elapsed_ms,
    pass_time,
    send,
    stop_caller,
    until,
)
from contracts.exec.spawn_io import shell

TIMEOUT_MS = 900


def stopped_before_the_deadline(shim: ShimProcess[ObservedRun]) -> None:
    stop_caller(shim)
    # The deadline cannot begin before the shim has read the request.
    took_ms = elapsed_ms(shim.request_read_ns(), shim.now_ns())
    if took_ms >= TIMEOUT_MS:
        what, expected = "the caller is stopped before the deadline", f"under {TIMEOUT_MS} ms"
        raise Late(what, expected, f"{took_ms} ms")


def summary(seen: ObservedRun) -> tuple[object, ...]:
    result = seen.result
    return result["success"], result["exit_code"], annotated(seen.stderr)


@pytest.mark.parametrize("code", [0, 3])
@requires("EXEC-RESULT-08", overlap=1.3)
def test_an_exit_seen_together_with_the_deadline_is_an_exit(case: ExecCase, code: int) -> None:
    events, gate = case.events(), case.fifo("open")
    args = [events.path, str(gate), "--exit", str(code)]
    with case.exec.start(
        program=P.gate, args=args, timeout_ms=TIMEOUT_MS, within_s=15, old_request=True
    ) as shim:
        events.wait("ready")
        stopped_before_the_deadline(shim)
        case.open_gate(gate)
        events.wait("end")
        pass_time(TIMEOUT_MS)
        shim.signal("CONT")
        seen = shim.finish()
    expect("success, exit_code, annotation", summary(seen), (code == 0, code, False))


@pytest.mark.parametrize(("name", "code"), [("TERM", 143), ("INT", 130)])
@requires("EXEC-RESULT-08", pitfalls=["H10"], overlap=0.3, needs=["EXEC-SIGNAL-03"])
def test_a_signal_seen_together_with_the_exit_is_the_result(
    case: ExecCase, name: str, code: int
) -> None:
    events, gate = case.events(), case.fifo("open")
    with case.exec.start(program=P.gate, args=[events.path, str(gate)], within_s=15) as shim:
        events.wait("ready")
        stop_caller(shim)
        case.open_gate(gate)
        events.wait("end")
        shim.signal(name)
        shim.signal("CONT")
        seen = shim.finish()
    expect("success, exit_code, annotation", summary(seen), (False, code, True))


@requires("EXEC-RESULT-08", overlap=1.3, needs=["EXEC-SIGNAL-01"])
def test_a_signal_seen_together_with_the_deadline_is_the_result(case: ExecCase) -> None:
    events = case.events()
    args = [events.path, "--on", "TERM:exit:0"]
    with case.exec.start(
        program=P.siglog, args=args, timeout_ms=TIMEOUT_MS, within_s=15, old_request=True
    ) as shim:
        events.wait("ready")
        stopped_before_the_deadline(shim)
        pass_time(TIMEOUT_MS)
        shim.signal("TERM")
        shim.signal("CONT")
        seen = shim.finish()
    expect("success, exit_code, annotation", summary(seen), (False, 143, True))


@requires("EXEC-TIMEOUT-01", capability="exec.cap", overlap=0.8, needs=["EXEC-KILL-01"])
def test_output_above_the_cap_after_a_deadline_does_not_change_the_result(case: ExecCase) -> None:
    line = "trap 'head -c 5000 /dev/zero; exit 0' TERM; : >\"$1\"; while :; do sleep 0.05; done"
    ready = case.tmp / "ready"
    request = shell(line, ready)
    seen = case.exec.run(**request, timeout_ms=500, max_output_bytes=1000, within_s=15)
    if not ready.exists():
        raise Late("the child is set up before its deadline", "a trap", "none")
    expect("success, exit_code, annotation", summary(seen), (False, None, True))


@requires("EXEC-SIGNAL-03", capability="exec.cap", overlap=0.5)
@pytest.mark.parametrize(("name", "code"), [("TERM", 143), ("INT", 130)])
def test_output_above_the_cap_after_a_signal_does_not_change_the_result(
    case: ExecCase, name: str, code: int
) -> None:
    events = case.events()
    args = [events.path, "--on", f"{name}:print:5000"]
    with case.exec.start(program=P.siglog, args=args, max_output_bytes=1000, within_s=15) as shim:
        events.wait("ready")
        shim.signal(name)
        seen = shim.finish()
    attempted(events, signal=1)
    expect("success, exit_code, annotation", summary(seen), (False, code, True))


@requires("EXEC-RESULT-09", pitfalls=["G7"], overlap=0.6)
def test_a_stopped_child_does_not_end_the_run(case: ExecCase) -> None:
    events = case.events()
    args = [events.path, "--on", "USR1:exit:4"]
    with case.exec.start(program=P.stop_self, args=args, within_s=15) as shim:
        child = events.wait("stopping").pid
        until(lambda: (found := procs.proc(child)) is not None and found.state == "T")
        pass_time(3 * case.tick_ms)
        running = shim.running
        send(child, "CONT")
        send(child, "USR1")
        seen = shim.finish()
    expect(
        "whether the run went on while the child was stopped, and its result",
        (running, *summary(seen)),
        (True, False, 4, False),
    )
