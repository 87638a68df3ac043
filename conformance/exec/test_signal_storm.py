"""Storms: many signals, on every thread, at a caller that reads and waits."""

from __future__ import annotations

import ctypes
import os
import signal

import pytest

from boxspec.api import Box, Live, Seen, expect, requires
from boxspec.api import programs as P
from exec.moments import until

LIBC = ctypes.CDLL(None, use_errno=True)
SYS_TGKILL = {"x86_64": 234, "aarch64": 131, "riscv64": 131}.get(os.uname().machine)


def signal_each_thread(live: Live[Seen], number: int) -> None:
    """One signal to each thread of the shim by itself."""
    for name in os.listdir(f"/proc/{live.shim_pid}/task"):
        if SYS_TGKILL is None:
            live.signal(number)
        else:
            LIBC.syscall(SYS_TGKILL, live.shim_pid, int(name), number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["TERM", "INT"])
@requires("EXEC-SIGNAL-15", pitfalls=["H16", "H17"], overlap=1.5, stress=1)
def test_thousands_of_signals_block_nothing_and_lose_no_output(box: Box, number: int) -> None:
    events = box.events()
    name = signal.Signals(number).name.removeprefix("SIG")
    with box.start(
        program=P.siglog, args=[events.path, "--on", f"{name}:print:300000"], within_s=15
    ) as live:
        events.wait("ready")
        for _ in range(5000):
            live.signal(number)
        seen = live.finish()
    expect(
        "exit_code and bytes of stdout",
        (seen.result["exit_code"], seen.stdout_len),
        (128 + number, 300_000),
    )


@requires("EXEC-SIGNAL-15", pitfalls=["H19"], overlap=1.0, stress=1)
def test_a_signal_on_whichever_thread_loses_no_output(box: Box) -> None:
    events = box.events()
    with box.start(
        program=P.siglog, args=[events.path, "--on", "TERM:print:300000"], within_s=15
    ) as live:
        events.wait("ready")
        for _ in range(20):
            signal_each_thread(live, signal.SIGTERM)
        seen = live.finish()
    expect(
        "exit_code and bytes of stdout",
        (seen.result["exit_code"], seen.stdout_len),
        (143, 300_000),
    )


@requires("EXEC-SIGNAL-15", pitfalls=["J3"], overlap=1.5, stress=6)
def test_stops_and_continues_while_it_spawns_block_nothing(box: Box) -> None:
    codes = []
    for code in range(6):
        with box.start(program=P.exit_with, args=[str(code)], within_s=10) as live:
            for _ in range(30):
                live.signal("STOP")
                live.signal("CONT")
            codes.append(live.finish().result["exit_code"])
    expect("exit codes of six runs whose caller was stopped again and again", codes, [*range(6)])


@requires("EXEC-SIGNAL-15", pitfalls=["J3"], overlap=0.6)
def test_a_caller_that_is_stopped_and_continued_goes_on(box: Box) -> None:
    events, gate = box.events(), box.fifo("open")
    with box.start(
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
