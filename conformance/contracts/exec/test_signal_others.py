"""EXEC-SIGNAL-12 and EXEC-SIGNAL-13: other signals to the caller, and handlers that cannot be
installed."""

from __future__ import annotations

import signal
from typing import Unpack

import pytest

from boxspec.api import Failure, ShimProcess, expect, for_the_prompt, requires
from boxspec.api import programs as P
from boxspec.subject.observe.procs import Status
from contracts.exec.answers import ObservedRun
from contracts.exec.caller_signals import SIGNALS
from contracts.exec.client import ExecCase, RunOptions
from contracts.exec.moments import attempted, need_preload
from contracts.shared.after_effects import swallows


@pytest.mark.parametrize("name", ["HUP", "QUIT", "USR1", "ALRM"])
@requires("EXEC-SIGNAL-12", pitfalls=["H23"])
def test_another_signal_acts_on_the_caller_by_default(case: ExecCase, name: str) -> None:
    wanted: End = ("killed", int(signal.Signals[f"SIG{name}"]))
    got = end_of_a_caller(case, name, "--core", "0")
    if got != wanted:
        wanted = end_when_idle(case, name, "--core", "0")
    expect("how the caller ended after the signal", got, wanted)


End = tuple[str, int] | None


def end_of_a_caller(case: ExecCase, name: str, *state: str) -> End:
    """Send the shim this signal during a run. Return how the shim ended, or None if it completed
    the run."""
    events, gate = case.events(), case.fifo("open")
    with case.exec.start(
        program=P.gate,
        args=[events.path, str(gate), "--exit", "4"],
        state=state,
        expect_result=False,
        within_s=10,
    ) as shim:
        events.wait("ready")
        shim.signal(name)
        # If the signal ends the shim, this happens before the shim notices the end of the child.
        try:
            case.open_gate(gate)
        except Failure:
            # In a sandbox the program ends with its caller, so the gate may have no reader.
            if case.session.backend is None:
                raise
            shim.wait_exit()
        seen = shim.finish()
    if seen.raw is None:
        return seen.shim_exit
    expect("exit_code of the child", seen.result["exit_code"], 4)
    return None


def end_when_idle(case: ExecCase, name: str, *state: str) -> End:
    """Return how this signal ends an idle shim. Its runtime may handle or reset signals."""
    with case.idle(*state) as idle:
        return idle.after_signal(name)


@pytest.mark.parametrize("name", ["HUP", "QUIT", "USR1"])
@requires("EXEC-SIGNAL-12", pitfalls=["H23", "H27"])
def test_another_signal_that_the_caller_ignores_changes_nothing(case: ExecCase, name: str) -> None:
    wanted: End = None
    got = end_of_a_caller(case, name, "--ignore", name)
    if got != wanted:
        wanted = end_when_idle(case, name, "--ignore", name)
    expect("how the caller ended after the signal", got, wanted)


@requires("EXEC-SIGNAL-12", pitfalls=["D8"])
def test_the_callers_handler_of_sigchld_stays(case: ExecCase) -> None:
    events, gate = case.events(), case.fifo("open")
    state = ["--preload", P.preload("catch_sigchld")]
    with case.exec.start(
        program=P.gate, args=[events.path, str(gate)], state=state, hold=True, within_s=10
    ) as shim:
        events.wait("ready")
        during = catches_sigchld(shim.status())
        case.open_gate(gate)
        shim.wait_response()
        need_preload(shim, "catch_sigchld")
        after = catches_sigchld(shim.status())
        shim.finish()
    wanted = True
    if not (during and after):
        # The runtime may have replaced the handler when it started.
        with case.idle(*state) as idle:
            wanted = signal.SIGCHLD in idle.mask("SigCgt")
    expect(
        "whether the caller handles SIGCHLD during the run and after it",
        (during or not wanted, after or not wanted),
        (True, True),
    )


def catches_sigchld(status: Status) -> bool:
    return signal.SIGCHLD in status.mask("SigCgt")


def without_handlers(case: ExecCase, **request: Unpack[RunOptions]) -> ShimProcess[ObservedRun]:
    """Return a shim that waits at the fifo `hold` and could not install its SIGTERM handler."""
    held: RunOptions = {
        "state": ["--preload", P.preload("fail_sigaction")],
        "shim_env": {"BOXSPEC_PRELOAD_ARM": "1"},
        "hold": True,
        "within_s": 12,
        "expect_result": False,
    }
    shim = case.exec.start(**(held | request))
    shim.wait_response()
    need_preload(shim, "fail_sigaction")
    return shim


@requires("EXEC-SIGNAL-13", pitfalls=["H22"])
def test_a_handler_that_cannot_be_installed_is_an_error_without_a_child(case: ExecCase) -> None:
    control, refused = case.events("control"), case.events("refused")
    case.exec.run(program=P.slow_exit, args=[control.path, "0"])
    attempted(control, end=1)
    with without_handlers(case, program=P.slow_exit, args=[refused.path, "2000"]) as shim:
        seen = shim.finish()
    expect(
        "kind of error, events of the program, and processes left running",
        (seen.error["kind"], refused.all(), [proc.describe() for proc in seen.lasting]),
        ("execution", [], []),
    )


@pytest.mark.parametrize("name", SIGNALS)
@requires("EXEC-SIGNAL-13", pitfalls=["H22"])
def test_a_failed_installation_is_rolled_back(case: ExecCase, name: str) -> None:
    with without_handlers(case, program=P.exit_with, args=["0"]) as shim:
        swallowed = swallows(shim, name)
    with for_the_prompt(case):
        expect("whether the caller exited with status 0", swallowed, False)
