"""Many signals, to every thread of a caller that reads and waits."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

import pytest

from boxspec.api import Box, Late, Live, expect, requires
from boxspec.api import programs as P
from boxspec.subject.observe.lines import Deadline, poll
from boxspec.subject.observe.procs import threads
from contracts.exec.answers import ObservedRun
from contracts.exec.moments import elapsed_ms, until

LIBC = ctypes.CDLL(None, use_errno=True)
SYS_TGKILL = {"x86_64": 234, "aarch64": 131, "riscv64": 131}.get(os.uname().machine)


def signal_each_thread(live: Live[ObservedRun], number: int) -> None:
    """Send one signal to each thread of the shim separately; skip threads that have ended."""
    for name in threads(live.shim_pid):
        if SYS_TGKILL is None:
            live.signal(number)
        else:
            LIBC.syscall(SYS_TGKILL, live.shim_pid, int(name), number)


# A member that ends HOLD_MS after its signal keeps the run open longer than the storm lasts.
HOLD_MS, STORM_MS = 1600, 500


def storm(
    box: Box, name: str, count: int, strike: Callable[[Live[ObservedRun]], object]
) -> ObservedRun:
    """Run a child that prints 300 kB on the first signal; call `strike` up to `count` times."""
    events = box.events()
    member = ["--members", "1", "--member-on", f"{name}:exit:0:{HOLD_MS}"]
    with box.exec.start(
        program=P.siglog,
        args=[events.path, "--on", f"{name}:print:300000", *member],
        within_s=15,
    ) as live:
        events.wait("ready")
        began_ns, left = live.now_ns(), count
        while left and elapsed_ms(began_ns, live.now_ns()) < STORM_MS:
            strike(live)
            left -= 1
        if elapsed_ms(began_ns, live.now_ns()) > HOLD_MS - 200:
            # A signal after the run would act on the caller itself.
            raise Late("all signals are sent before the run ends", f"in {STORM_MS} ms", "later")
        return live.finish()


@pytest.mark.parametrize("name", ["TERM", "INT"])
@requires("EXEC-SIGNAL-15", pitfalls=["H16", "H17"], overlap=2.5, stress=1)
def test_thousands_of_signals_block_nothing_and_lose_no_output(box: Box, name: str) -> None:
    number = signal.Signals[f"SIG{name}"]
    seen = storm(box, name, 5000, lambda live: live.signal(number))
    expect(
        "exit_code and bytes of stdout",
        (seen.result["exit_code"], seen.stdout_len),
        (128 + number, 300_000),
    )


@requires("EXEC-SIGNAL-15", pitfalls=["H19"], overlap=2.5, stress=1)
def test_a_signal_to_any_thread_loses_no_output(box: Box) -> None:
    seen = storm(box, "TERM", 20, lambda live: signal_each_thread(live, signal.SIGTERM))
    expect(
        "exit_code and bytes of stdout",
        (seen.result["exit_code"], seen.stdout_len),
        (143, 300_000),
    )


@requires("EXEC-SIGNAL-15", pitfalls=["J3"], overlap=1.5, stress=6)
def test_a_caller_that_is_stopped_and_continued_never_hangs(box: Box) -> None:
    codes = []
    for code in range(6):
        with box.exec.start(program=P.exit_with, args=[str(code)], within_s=10) as live:
            # From its start to its end; after each pair of signals it runs for a millisecond.
            limit = Deadline(3)
            while live.running and not limit.over():
                live.signal("STOP")
                live.signal("CONT")
                poll([], 0.001)
            codes.append(live.finish().result["exit_code"])
    expect("exit codes of six runs whose caller was stopped again and again", codes, [*range(6)])


@requires("EXEC-SIGNAL-15", pitfalls=["J3"], overlap=0.6)
def test_a_run_completes_after_its_caller_was_stopped_and_continued(box: Box) -> None:
    events, gate = box.events(), box.fifo("open")
    with box.exec.start(
        program=P.gate, args=[events.path, str(gate), "--out", "a", "--then", "b"], within_s=10
    ) as live:
        events.wait("ready")
        live.signal("STOP")
        until(lambda: live.status().get("State", "").startswith("T"))
        box.open_gate(gate)
        events.wait("end")
        live.signal("CONT")
        seen = live.finish()
    expect("exit_code and stdout", (seen.result["exit_code"], seen.stdout), (0, b"ab"))
