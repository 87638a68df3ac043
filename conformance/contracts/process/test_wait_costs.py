"""PROCESS-WAIT-07: a wait without events causes few wake-ups and takes little processor time."""

from __future__ import annotations

from typing import Any

import pytest

from boxspec.api import expect, requires
from boxspec.api import programs as P
from contracts.process.client import ProcessCase, handle, step
from contracts.process.judging import shell
from contracts.shared.costs import costs_above_bounds
from contracts.shared.moments import send

# The last limit does not fit into the int of poll(2).
LIMITS: dict[str, dict[str, Any]] = {
    "endless": {},
    "limit": {"timeout_ms": 600_000},
    "35 years": {"timeout_ms": 2**40},
}


@requires("PROCESS-WAIT-07", overlap=1.5, timing=True)
@pytest.mark.parametrize("limit", LIMITS.values(), ids=[*LIMITS])
def test_an_idle_wait_costs_next_to_nothing(case: ProcessCase, limit: dict[str, Any]) -> None:
    events, fifo = case.events(), case.fifo("open")
    gate = handle(P.gate, [events.path, fifo])
    with case.process.start({"a": gate}, [step("open"), step("wait", **limit)]) as shim:
        events.wait("ready")
        excess = costs_above_bounds(shim, 1000)
        case.open_gate(fifo)
        seen = shim.finish()
    expect("how the child ended", seen.steps[1], {"exited": 0})
    expect("wake-ups and processor time above the limits, during the wait", excess, {})


# A process ignores SIGTERM: either the leader, or a member that outlives the leader.
GRACE = {
    "leader": 'exec "$1" "$2" --ignore TERM',
    "member": '"$1" "$2" --ignore TERM & exec "$1" "$2" --on TERM:exit:0',
}


@requires("PROCESS-WAIT-07", overlap=1.5, timing=True, needs=["PROCESS-CLOSE-01"])
@pytest.mark.parametrize("who", GRACE)
def test_an_idle_grace_period_costs_next_to_nothing(case: ProcessCase, who: str) -> None:
    events, fifo = case.events(), case.fifo("go")
    members = 1 if who == "leader" else 2
    pause = [step("open", "p"), step("wait", "p")]
    handles = {
        "a": shell(GRACE[who], P.siglog, events.path, stdin=2, stdout=2, stderr=2),
        "p": handle(P.gate, [case.events("pause").path, fifo]),
    }
    steps = [step("open"), *pause, step("close", grace_ms=600_000)]
    with case.process.start(handles, steps, within_s=20) as shim:
        for _ in range(members):
            events.wait("ready")
        case.open_gate(fifo)
        ended = events.wait("end" if who == "member" else "signal").pid
        excess = costs_above_bounds(shim, 1000)
        for event in events.all("ready"):
            if event.pid != ended or who == "leader":
                send(event.pid, "KILL")
        shim.finish()
    expect("wake-ups and processor time above the limits, during the grace period", excess, {})
