"""EXEC-KILL: which processes get the signals, and which runs have a grace period."""

from __future__ import annotations

from typing import Any

import pytest

from boxspec.api import Late, at_least, expect, requires
from boxspec.api import programs as P
from boxspec.judge.requires import Requires
from contracts.exec.client import ExecCase
from contracts.exec.crossing import MAY_FAIL, OPTIONS
from contracts.exec.moments import SETTLED_MS, settled, until
from contracts.exec.spawn_io import shell
from contracts.shared.requests import ExecRequest


@requires("EXEC-KILL-01", overlap=1.0)
@pytest.mark.parametrize("cause", ["deadline", "TERM", "INT"])
def test_a_member_that_lost_its_parent_gets_the_first_signal(case: ExecCase, cause: str) -> None:
    events = case.events()
    name = "INT" if cause == "INT" else "TERM"
    # The parent of the member is a subshell, which ends at once.
    line = '( "$1" "$2" --on $3:exit:0 & ); exec "$1" "$2" --on $3:exit:0'
    request = shell(line, P.siglog, events.path, name)
    limit: dict[str, Any] = {"timeout_ms": 2000} if cause == "deadline" else {}
    with case.exec.start(**request, **limit, within_s=20) as shim:
        for _ in range(2):
            events.wait("ready", timeout_s=15)
        if cause != "deadline":
            shim.signal(name)
        shim.finish()
    ready = {event.pid for event in events.all("ready")}
    heard = {event.pid for event in events.all("signal") if event.rest[0] == name}
    expect("processes without the signal", (len(ready), ready - heard), (2, set()))


@requires("EXEC-KILL-02", overlap=0.5, needs=["EXEC-CHILD-07"])
def test_a_run_that_times_out_at_once_has_the_grace(case: ExecCase) -> None:
    """The child inherits a mask that blocks SIGTERM. So it survives a deadline before its first
    instruction, and may end by itself."""
    events = case.events()
    args = [events.path, "300"]
    state = ["--block", "TERM"]
    case.exec.run(program=P.slow_exit, args=args, timeout_ms=0, state=state, within_s=20)
    expect("how often the child ended by itself", len(events.all("end")), 1)


@requires("EXEC-KILL-03", overlap=2.0, needs=["EXEC-KILL-01"])
@pytest.mark.parametrize("cause", ["deadline", "TERM"])
def test_a_member_that_is_forked_in_the_grace_has_the_rest_of_it(
    case: ExecCase, cause: str
) -> None:
    # No process that existed at the first signal outlives it. The shell has the handler before it
    # makes the mark.
    events, mark = case.events(), case.tmp / "set up"
    line = 'trap \'"$1" "$2" 400 & exit 0\' TERM; : >"$3"; while :; do sleep 0.05; done'
    request = shell(line, P.slow_exit, events.path, mark)
    limit: dict[str, Any] = {"timeout_ms": 700} if cause == "deadline" else {}
    with case.exec.start(**request, **limit, within_s=20) as shim:
        if cause != "deadline":
            until(mark.exists)
            shim.signal(cause)
        shim.finish()
    if not mark.exists():
        raise Late("the child is set up before its deadline", "a handler of SIGTERM", "none")
    expect("how often a member ended by itself", len(events.all("end")), 1)


# The child reads no payload.
UNREAD: ExecRequest = {"stdin": b"x" * 2**20}
MAY_FAIL_NEEDS, MAY_FAIL_OPTION = OPTIONS[MAY_FAIL]
OF_A_DEADLINE: dict[str, tuple[str, ExecRequest]] = {
    **{name: OPTIONS[name] for name in ("with debug", "with a cap that is not reached")},
    "with a payload": ("exec", UNREAD),
    MAY_FAIL: (MAY_FAIL_NEEDS, UNREAD | MAY_FAIL_OPTION),
}


def needing(capability: str) -> pytest.MarkDecorator:
    mark = Requires(("EXEC-KILL-02",), ("G2",), (capability,), overlap=True, seconds=6.0)
    return pytest.mark.requires(mark)


@pytest.mark.parametrize(
    "option",
    [
        pytest.param(option, id=name, marks=needing(capability))
        for name, (capability, option) in OF_A_DEADLINE.items()
    ],
)
def test_the_grace_does_not_depend_on_other_options(case: ExecCase, option: ExecRequest) -> None:
    events = case.events()
    args = [events.path, "--ignore", "TERM"]
    request: ExecRequest = {"program": P.siglog, "args": args, "timeout_ms": SETTLED_MS}
    seen = case.exec.run(**(request | option), within_s=20)
    settled(events)
    # Exact, because the spawn comes after the shim's start, and SIGKILL before the shim's end.
    lived_ms = seen.elapsed_ms - SETTLED_MS
    expect("how long the shim lived after the deadline, in ms", lived_ms, at_least(case.grace_ms))


@requires("EXEC-KILL-11", pitfalls=["B8"], overlap=1.5, needs=["EXEC-KILL-01"])
def test_a_member_that_leaves_the_group_in_the_grace_lives_on(case: ExecCase) -> None:
    events, mark = case.events(), case.tmp / "set up"
    # On SIGTERM the member makes a session of its own.
    away = 'exec setsid "$1" "$2" --ignore TERM >/dev/null 2>&1'
    member = f"trap '{away}' TERM; : >\"$3\"; while :; do sleep 0.05; done"
    line = f'({member}) & exec "$1" "$2" --on TERM:exit:0:600'
    request = shell(line, P.siglog, events.path, mark)
    with case.exec.start(**request, within_s=20) as shim:
        leader = events.wait("ready").pid
        until(mark.exists)
        shim.signal("TERM")
        seen = shim.finish()
    apart = {event.pid for event in events.all("ready")} - {leader}
    if len(apart) != 1:
        raise Late("the member leaves the group in the grace period", "one process", str(apart))
    alive = apart & {process.pid for process in seen.lasting}
    expect("processes that left the group in the grace period and live on", alive, apart)
