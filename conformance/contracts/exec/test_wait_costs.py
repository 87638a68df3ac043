"""EXEC-WAIT-03: a wait without events causes few wake-ups and takes little processor time."""

from __future__ import annotations

from typing import Any

import pytest

from boxspec.api import Event, Late, ShimProcess, expect, requires
from boxspec.api import programs as P
from contracts.exec.client import ExecCase
from contracts.exec.moments import elapsed_ms, send, settled
from contracts.exec.spawn_io import shell
from contracts.shared.costs import costs_above_bounds, costs_above_bounds_until
from contracts.shared.requests import ExecRequest, Limits

# More than a pipe holds without a reader.
LARGE = b"x" * 2**20


# The last deadline does not fit into the int of poll(2).
DEADLINES: dict[str, Limits] = {
    "endless": {},
    "deadline": {"timeout_ms": 600_000},
    "35 years": {"timeout_ms": 2**40},
}


def costs_in_grace(case: ExecCase, shim: ShimProcess[Any], signalled: Event) -> dict[str, float]:
    """Return the costs above their limits in a second of the grace period.

    Raise Late if the grace period may have ended meanwhile, because its end costs wake-ups.
    signalled: an event that the signal caused.
    """
    excess = costs_above_bounds(shim, 1000)
    since_ms = (shim.now_ns() - signalled.t_ns + signalled.late_ns) / 1e6
    if excess and since_ms > case.grace_ms - case.tick_ms:
        got = f"{since_ms:.0f} ms after the signal"
        raise Late("the measurement ends", "before the grace period ends", got)
    return excess


@pytest.mark.parametrize("deadline", DEADLINES.values(), ids=[*DEADLINES])
@requires("EXEC-WAIT-03", pitfalls=["G20"], overlap=1.8, timing=True)
def test_an_idle_wait_costs_next_to_nothing(case: ExecCase, deadline: Limits) -> None:
    events, fifo = case.events(), case.fifo("open")
    with case.exec.start(program=P.gate, args=[events.path, str(fifo)], **deadline) as shim:
        events.wait("ready")
        excess = costs_above_bounds(shim, 1500)
        case.open_gate(fifo)
        shim.finish()
    expect("wake-ups and processor time above the limits, while the run waits", excess, {})


@requires("EXEC-WAIT-03", overlap=1.6, needs=["EXEC-KILL-01"])
def test_the_last_second_before_a_deadline_costs_next_to_nothing(case: ExecCase) -> None:
    events = case.events()
    with case.exec.start(program=P.siglog, args=[events.path], timeout_ms=1300) as shim:
        ready = events.wait("ready")
        excess = costs_above_bounds_until(shim, lambda: events.wait("signal"))
        send(ready.pid, "KILL")
        shim.finish()
    measured_ms = elapsed_ms(ready.t_ns, events.all("signal")[0].t_ns)
    if measured_ms < 1000:
        raise Late("the child starts", "1000 ms before its deadline", f"{measured_ms:.0f} ms")
    expect("wake-ups and processor time above the limits, until the deadline", excess, {})


@requires("EXEC-WAIT-03", pitfalls=["G20"], overlap=2.0, needs=["EXEC-KILL-01", "EXEC-KILL-04"])
def test_an_idle_grace_period_costs_next_to_nothing(case: ExecCase) -> None:
    events = case.events()
    with case.exec.start(program=P.siglog, args=[events.path], timeout_ms=200) as shim:
        signalled = events.wait("signal")
        excess = costs_in_grace(case, shim, signalled)
        send(signalled.pid, "KILL")
        shim.finish()
    expect("wake-ups and processor time above the limits, during the grace period", excess, {})


# A descriptor that is always ready but needs no action could turn a wait into a busy loop. The next
# tests make such descriptors.


@requires("EXEC-WAIT-03", overlap=1.3, needs=["EXEC-STDIN-09"])
def test_an_unread_payload_costs_next_to_nothing(case: ExecCase) -> None:
    events = case.events()
    with case.exec.start(program=P.never_read, args=[events.path], stdin=LARGE) as shim:
        child = events.wait("ready").pid
        excess = costs_above_bounds(shim, 1000)
        send(child, "KILL")
        shim.finish()
    expect(
        "wake-ups and processor time above the limits, while the payload is not read", excess, {}
    )


@requires("EXEC-WAIT-03", capability="exec.stdin_failure", overlap=1.3)
def test_a_payload_without_a_reader_costs_next_to_nothing(case: ExecCase) -> None:
    events = case.events()
    request: ExecRequest = {"program": P.close_early, "args": [events.path, "--in"], "stdin": LARGE}
    with case.exec.start(**(request | {"stdin_failure": "ignore"})) as shim:
        child = events.wait("closed").pid
        excess = costs_above_bounds(shim, 1000)
        send(child, "KILL")
        shim.finish()
    expect(
        "wake-ups and processor time above the limits, with a payload without a reader", excess, {}
    )


@requires("EXEC-WAIT-03", overlap=2.0, needs=["EXEC-KILL-01", "EXEC-KILL-03"])
def test_a_grace_period_after_the_childs_end_costs_next_to_nothing(case: ExecCase) -> None:
    events = case.events()
    line = '"$1" "$2" --ignore TERM & exec "$1" "$2" --on TERM:exit:0'
    with case.exec.start(**shell(line, P.siglog, events.path), timeout_ms=300) as shim:
        ended = events.wait("end")
        settled(events, 2)
        excess = costs_in_grace(case, shim, ended)
        for event in events.all("ready"):
            if event.pid != ended.pid:
                send(event.pid, "KILL")
        shim.finish()
    expect(
        "wake-ups and processor time above the limits, during the grace period of a member",
        excess,
        {},
    )
