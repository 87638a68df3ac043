"""PROCESS: the state of the caller after a process, and the state that a process inherits."""

from __future__ import annotations

import os
from typing import Any

import pytest

from boxspec.api import ShimProcess, requires
from boxspec.api import programs as P
from boxspec.subject.case import Message
from contracts.process.client import ProcessCase, Step, handle, step
from contracts.shared.caller_state import CALLER, after, expect_passed_on, expect_unchanged


@requires("PROCESS-CHILD-08")
@pytest.mark.parametrize("how", ["script", "bridge"])
def test_a_process_has_the_identity_and_the_place_of_its_caller(
    case: ProcessCase, how: str
) -> None:
    events, fifo = case.events(), case.fifo("gate")
    shim: ShimProcess[Any]
    if how == "bridge":
        shim = case.process.start_bridge(P.gate, [events.path, fifo])
    else:
        child = handle(P.gate, [events.path, fifo])
        shim = case.process.start({"a": child}, [step("open"), step("wait")])
    with shim:
        expect_passed_on(shim.shim_pid, events.wait("ready").pid, case.process.inside.name)


# How a process ends: its handle, and the steps after its start.
LEAVING: dict[str, tuple[Message, list[Step]]] = {
    "a wait": (handle("/bin/true"), [step("wait")]),
    "a close": (handle("/bin/cat"), [step("close", grace_ms=100)]),
    "a kill": (handle("/bin/cat"), [step("kill"), step("wait")]),
    "inherited streams": (handle("/bin/true", stdin=0, stdout=0, stderr=0), [step("wait")]),
    "a failed open": (handle("/boxspec/no/such"), []),
}


@requires("PROCESS-LEAK-03")
@pytest.mark.parametrize("how", LEAVING)
def test_after_a_process_the_state_of_the_caller_is_as_before(case: ProcessCase, how: str) -> None:
    child, steps = LEAVING[how]
    options: dict[str, Any] = {"hold": True, "expect_result": False, "state": CALLER}
    held = case.process.start({"a": child}, [step("open"), *steps], **options)
    expect_unchanged(case, after(held))


@requires("PROCESS-LEAK-03")
def test_after_a_bridge_the_state_of_the_caller_is_as_before(case: ProcessCase) -> None:
    options: dict[str, Any] = {"hold": True, "expect_result": False, "state": CALLER}
    held = case.process.start_bridge("/bin/true", stdin=os.devnull, **options)
    expect_unchanged(case, after(held))
