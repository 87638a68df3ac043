"""PROCESS-WAIT-08: a caller that is stopped and continued.

Some system calls then fail with EINTR; see signal(7).
"""

from __future__ import annotations

from typing import Any

import pytest

from boxspec.api import ShimProcess, expect, requires
from boxspec.api import programs as P
from contracts.process.client import ProcessCase, Script, handle, step
from contracts.shared.moments import stop_caller, until

LIMITS: dict[str, dict[str, Any]] = {"endless": {}, "limit": {"timeout_ms": 600_000}}


def stop_and_continue(shim: ShimProcess[Script]) -> None:
    """Stop and continue the caller three times while it waits."""
    for _ in range(3):
        shim.at_rest()
        stop_caller(shim)
        shim.signal("CONT")
        until(lambda: not shim.status().get("State", "T").startswith("T"))


@requires("PROCESS-WAIT-08")
@pytest.mark.parametrize("limit", LIMITS.values(), ids=[*LIMITS])
def test_a_wait_goes_on_after_the_caller_was_stopped(
    case: ProcessCase, limit: dict[str, Any]
) -> None:
    events, fifo = case.events(), case.fifo("gate")
    gate = handle(P.gate, [events.path, fifo, "--exit", 7])
    with case.process.start({"a": gate}, [step("open"), step("wait", **limit)]) as shim:
        events.wait("ready")
        stop_and_continue(shim)
        case.open_gate(fifo)
        seen = shim.finish()
    expect("how the child ended", seen.steps[1], {"exited": 7})


@requires("PROCESS-WAIT-08")
def test_a_grace_period_goes_on_after_the_caller_was_stopped(case: ProcessCase) -> None:
    gate, fifo = case.events(), case.fifo("gate")
    line = 'trap \'"$1" "$2" "$3"; exit 7\' TERM; echo ready; while :; do sleep 0.05; done'
    child = handle("/bin/sh", ["-c", line, "sh", P.gate, gate.path, fifo])
    steps = [step("open"), step("read_until", stream="stdout", until=b"ready\n")]
    steps += [step("close", grace_ms=600_000)]
    with case.process.start({"a": child}, steps, within_s=20) as shim:
        gate.wait("ready")
        stop_and_continue(shim)
        case.open_gate(fifo)
        seen = shim.finish()
    expect("how the child ended", seen.steps[2].get("exited"), 7)
