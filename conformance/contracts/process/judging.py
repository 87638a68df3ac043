"""Helpers that the tests of processes share."""

from __future__ import annotations

import os
import socket
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Unpack

from boxspec.api import Event, Late, ShimProcess
from boxspec.api import programs as P
from boxspec.subject.case import Message
from boxspec.subject.observe import procs
from boxspec.subject.observe.lines import poll
from contracts.process.client import (
    ProcessCase,
    RequestFields,
    Script,
    ScriptOptions,
    Step,
    StepResult,
    handle,
    request,
    step,
)
from contracts.shared.moments import until

# The answer of a `poll` while a process runs, and of a `wait` that reached its limit.
RUNNING = {"running": True}

CAT = "/bin/cat"
SH = "/bin/sh"
# A bridge may wait this long for a slow reader, or for processes that have left the group.
LINGER_MS = 1000
# The grace period of a bridge.
GRACE_MS = 1500


def shell(line: str, *words: Any, **options: Any) -> Message:
    """Return a handle on `sh -c line` with $1, $2, …"""
    return handle(SH, ["-c", line, "sh", *words], **options)


def asked(text: bytes, on: str = "a") -> list[Step]:
    """Return two steps: write a line, and read a line."""
    return [step("write", on, data=text), step("read_until", on, stream="stdout", until=b"\n")]


def pair(kind: str) -> tuple[int, int]:
    """Return a reading and a writing end, of a pipe or of sockets. Clients in Node use sockets."""
    if kind == "pipe":
        return os.pipe()
    ends = socket.socketpair()
    return ends[0].detach(), ends[1].detach()


def carried_out(
    case: ProcessCase,
    how: str,
    program: str,
    args: Sequence[Any] = (),
    fields: RequestFields | None = None,
    **run: Unpack[ScriptOptions],
) -> tuple[Any, bytes]:
    """Run a program to its end, in a script or in a bridge. Return the error and the output."""
    if how == "bridge":
        bridged = case.process.bridge(program, args, fields=fields, **run)
        return (bridged.raw or {}).get("error"), bridged.shim_stdout
    handles = {"a": {"request": request(program, args, **(fields or {}))}}
    steps = [step("open"), step("read_eof", stream="stdout"), step("wait")]
    seen = case.process.script(handles, steps, **run)
    error = seen.steps[0].get("error")
    return error, b"" if error else seen.data(1)


def leader_with_a_stopped_member(events: str) -> tuple[str, list[str]]:
    """Return a program and its arguments, for a leader with a member that has stopped itself.

    Each of the two ends when SIGTERM reaches it.
    """
    line = '"$1" "$3" --on TERM:exit:0 & exec "$2" "$3" --on TERM:exit:5'
    return SH, ["-c", line, "sh", P.stop_self, P.siglog, events]


def is_stopped(pid: int) -> bool:
    """True if the process is stopped or has ended.

    An ended process counts, so that a wait for the stop ends.
    """
    found = procs.proc(pid)
    return found is None or found.state == "T"


def are_gone(case: ProcessCase, shim: ShimProcess[Any], pids: set[int]) -> bool:
    """True if all these processes end within 1 s.

    On a busy machine they may end later. So after a first failure the test is repeated without
    other tests.
    """
    gone = until(lambda: not pids & {p.pid for p in shim.descendants() if p.alive}, 1)
    if not gone and case.attempt.number == 1:
        raise Late("members of the group", "they have ended after 1 s", "some live on")
    return gone


def read_some(fd: int, within_s: float = 10, most: int = 65536) -> bytes:
    """Read from the test's end of a pipe; return no bytes at its end or at the time limit."""
    return os.read(fd, most) if poll([fd], within_s) else b""


def end_of(step: StepResult) -> dict[str, object]:
    """Return how the child ended, by this step: an exit or a signal. The other one is None."""
    return {key: step.get(key) for key in ("exited", "signaled")}


def refusal(seen: Script, declared: Collection[str]) -> str | None:
    """Return the kind of the error, which is an error of the first step or of the whole request.

    If a field needs an undeclared capability, `unsupported` counts as invalid_input.
    """
    if seen.unsupported is not None and seen.unsupported["capability"] not in declared:
        return "invalid_input"
    wrong = seen.steps[0] if seen.ok else {"error": seen.error}
    kind: str | None = wrong.get("error", {}).get("kind")
    return kind


class Pause:
    """A point at which a script waits until the test lets it continue."""

    def __init__(self, case: ProcessCase, name: str = "pause") -> None:
        self._case = case
        self.name = name
        self.fifo: Path = case.fifo(name)
        self._events = case.events(f"{name}-events")

    @property
    def handle(self) -> Message:
        return handle(P.gate, [self._events.path, self.fifo])

    @property
    def steps(self) -> list[Step]:
        return [step("open", self.name), step("wait", self.name)]

    def reached(self, within_s: float = 10) -> Event:
        return self._events.wait("ready", timeout_s=within_s)

    def go_on(self) -> None:
        self._case.open_gate(self.fifo)


def has_ended(case: ProcessCase, shim: ShimProcess[Any], leader: int) -> bool:
    """True if the leader has ended.

    In a sandbox, its launcher must have ended too. The launcher is a child of the shim; the only
    other child is the process that pauses the script.
    """
    alive = [each for each in shim.descendants() if each.alive]
    children = [each.pid for each in alive if each.ppid == shim.shim_pid]
    return all(each.pid != leader for each in alive) and (
        case.session.backend is None or len(children) < 2
    )


def member_lives_on(
    case: ProcessCase, behind: Step, *last: Step, **options: Unpack[ScriptOptions]
) -> tuple[bool, Script]:
    """Run the step `behind` after the leader's exit, while a member of the group is alive.

    Return True if the member is still alive after the step, and the script. The leader exits with
    3. The step is the fourth one of the script. The end of the script kills the member in any case.
    """
    events, before, after = case.events(), Pause(case), Pause(case, "behind")
    words = [events.path, "--keep", "none", "--exit", "3", "--ignore", "TERM", "--ignore", "HUP"]
    handles = {"a": handle(P.orphan, words), **{p.name: p.handle for p in (before, after)}}
    steps = [step("open"), *before.steps, behind, *after.steps, *last]
    with case.process.start(handles, steps, **(options | {"within_s": 15})) as shim:
        leader = events.wait("end").pid
        before.reached()
        until(lambda: has_ended(case, shim, leader))
        before.go_on()
        after.reached()
        orphan = events.wait("orphan").pid
        # A killed process may need a moment to end.
        lives = orphan in {p.pid for p in shim.descendants() if p.alive and not procs.is_dying(p)}
        after.go_on()
        return lives, shim.finish()


def behind_its_leader(case: ProcessCase, *last: Step, heard: bool = False) -> Script:
    """Run steps after the end of a leader, while a member of its group is alive.

    No step has waited for the leader before. The member logs its events, and ends 200 ms after a
    SIGTERM.
    heard: True to wait, after the steps, until the member has received the signal.
    """
    events, ends, pause = case.events(), case.events("leader"), Pause(case)
    behind = [Pause(case, "behind")] if heard else []
    line = '"$1" "$2" --on TERM:exit:0:200 & exec "$3" "$4" 0'
    words = (P.siglog, events.path, P.slow_exit, ends.path)
    handles = {"a": shell(line, *words), **{p.name: p.handle for p in (pause, *behind)}}
    steps = [step("open"), *pause.steps, *last, *(each for p in behind for each in p.steps)]
    with case.process.start(handles, steps, within_s=15) as shim:
        events.wait("ready")
        leader = ends.wait("end").pid
        pause.reached()
        until(lambda: has_ended(case, shim, leader))
        pause.go_on()
        for each in behind:
            events.wait("signal")
            each.reached()
            each.go_on()
        return shim.finish()


def woken_by(case: ProcessCase, last: Step, waits: Step | None = None) -> StepResult:
    """Return the result of a wait in the thread w. Meanwhile the step `last` acts on the child.

    waits: the wait, by default one without a limit.
    """
    pause = Pause(case)
    handles = {"a": handle("/bin/sleep", ["60"]), pause.name: pause.handle}
    waits = waits or step("wait", thread="w")
    steps = [step("open"), waits, *pause.steps, last, step("join", thread="w")]
    with case.process.start(handles, steps, within_s=15) as shim:
        pause.reached()
        # Wait until the shim is at rest, because the new thread may not have started its wait.
        procs.blocked_at_rest(shim.shim_pid)
        pause.go_on()
        seen = shim.finish()
    return seen.steps[1]
