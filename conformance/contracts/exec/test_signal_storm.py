"""Send many signals to each thread of a caller that reads and waits."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from boxspec.api import Late, ShimProcess, expect, for_the_prompt, requires
from boxspec.api import programs as P
from boxspec.subject.observe.lines import Deadline, poll
from contracts.exec.answers import ObservedRun
from contracts.exec.caller_signals import signal_each_thread
from contracts.exec.client import ExecCase
from contracts.exec.moments import elapsed_ms, stop_caller

# A member ends HOLD_MS after its first signal. The signals are sent only for STORM_MS. So all of
# them arrive during the run.
HOLD_MS, STORM_MS = 1600, 500


def storm(
    case: ExecCase, name: str, count: int, strike: Callable[[ShimProcess[ObservedRun]], object]
) -> ObservedRun:
    """Run a child that prints 300 kB at the first signal; call `strike` up to `count` times."""
    events = case.events()
    member = ["--members", "1", "--member-on", f"{name}:exit:0:{HOLD_MS}"]
    with case.exec.start(
        program=P.siglog,
        args=[events.path, "--on", f"{name}:print:300000", *member],
        within_s=15,
    ) as shim:
        events.wait("ready")
        began_ns, left = shim.now_ns(), count
        while left and elapsed_ms(began_ns, shim.now_ns()) < STORM_MS:
            strike(shim)
            left -= 1
        if elapsed_ms(began_ns, shim.now_ns()) > HOLD_MS - 200:
            # A signal after the end of the run would act on the caller itself.
            raise Late("all signals are sent before the run ends", f"in {STORM_MS} ms", "later")
        return shim.finish()


def expect_all_output(case: ExecCase, seen: ObservedRun, exit_code: int) -> None:
    # On a very busy machine the child may not print everything before its grace period ends.
    with for_the_prompt(case):
        expect(
            "exit_code and bytes of stdout",
            (seen.result["exit_code"], seen.stdout_len),
            (exit_code, 300_000),
        )


@pytest.mark.parametrize("name", ["TERM", "INT"])
@requires("EXEC-SIGNAL-15", pitfalls=["H16", "H17"], overlap=2.5, stress=1)
def test_thousands_of_signals_block_nothing_and_lose_no_output(case: ExecCase, name: str) -> None:
    number = signal.Signals[f"SIG{name}"]
    seen = storm(case, name, 5000, lambda shim: shim.signal(number))
    expect_all_output(case, seen, 128 + number)


@requires("EXEC-SIGNAL-15", pitfalls=["H19"], overlap=2.5, stress=1)
def test_a_signal_to_any_thread_loses_no_output(case: ExecCase) -> None:
    seen = storm(case, "TERM", 20, lambda shim: signal_each_thread(shim, signal.SIGTERM))
    expect_all_output(case, seen, 143)


@requires("EXEC-SIGNAL-15", pitfalls=["J3"], overlap=1.5, stress=6)
def test_a_caller_that_is_stopped_and_continued_never_hangs(case: ExecCase) -> None:
    codes = []
    for code in range(6):
        with case.exec.start(program=P.exit_with, args=[str(code)], within_s=10) as shim:
            # Stop and continue the caller repeatedly from its start to its end. Between two stops
            # it runs for a millisecond.
            limit = Deadline(3)
            while shim.running and not limit.over():
                shim.signal("STOP")
                shim.signal("CONT")
                poll([], 0.001)
            codes.append(shim.finish().result["exit_code"])
    expect("exit codes of six runs whose caller was stopped again and again", codes, [*range(6)])


@requires("EXEC-SIGNAL-15", pitfalls=["J3"], overlap=0.6)
def test_a_run_completes_after_its_caller_was_stopped_and_continued(case: ExecCase) -> None:
    events, gate = case.events(), case.fifo("open")
    with case.exec.start(
        program=P.gate, args=[events.path, str(gate), "--out", "a", "--then", "b"], within_s=10
    ) as shim:
        events.wait("ready")
        stop_caller(shim)
        case.open_gate(gate)
        events.wait("end")
        shim.signal("CONT")
        seen = shim.finish()
    expect("exit_code and stdout", (seen.result["exit_code"], seen.stdout), (0, b"ab"))
