"""Tests in a sandbox that replace tests whose conditions a launcher changes (see inside.yaml)."""

from __future__ import annotations

import pytest

from boxspec.api import expect, requires
from boxspec.api import programs as P
from boxspec.subject.observe import procs
from contracts.process.client import ProcessCase, handle, step
from contracts.process.judging import Pause, shell
from contracts.process.test_kill import numbered
from contracts.shared.moments import attempted, expect_none_left

HERE = "process.backend"


@requires("PROCESS-OPEN-04", capability=HERE, inside=True)
def test_inside_an_inherited_pipe_is_the_shims(case: ProcessCase) -> None:
    handles = {"a": shell("echo here >&2", stderr=0)}
    steps = [step("open"), step("streams"), step("wait")]
    with case.process.start(handles, steps, stderr="pipe") as shim:
        came = b""
        while piece := shim.read("stderr", 100):
            came += piece
        seen = shim.finish()
    got = (seen.steps[1], seen.steps[2], came)
    wanted = ({"stdin": True, "stdout": True, "stderr": False}, {"exited": 0}, b"here\n")
    expect("the streams, how the child ended, and the shim's own stderr", got, wanted)


@requires("PROCESS-GROUP-02", capability=HERE, inside=True)
def test_inside_a_process_that_left_the_group_ends_with_it(case: ProcessCase) -> None:
    events = case.events()
    words = [events.path, "--keep", "none", "--setsid"]
    seen = case.process.script({"a": handle(P.orphan, words)}, [step("open"), step("wait")])
    expect("how the child ended", seen.steps[1], {"exited": 0})
    expect_none_left(seen, events, orphan=1)


@requires("PROCESS-KILL-02", capability=HERE, inside=True)
def test_inside_a_member_ends_with_its_leader(case: ProcessCase) -> None:
    events = case.events()
    words = [events.path, "--keep", "none", "--ignore", "TERM"]
    seen = case.process.script({"a": handle(P.orphan, words)}, [step("open"), step("wait")])
    expect("how the child ended", seen.steps[1], {"exited": 0})
    expect_none_left(seen, events, orphan=1)


@requires("PROCESS-CLOSE-02", capability=HERE, inside=True)
@pytest.mark.parametrize("keep", ["out", "err", "none"])
def test_inside_no_process_holds_the_pipes_after_the_end(case: ProcessCase, keep: str) -> None:
    events = case.events()
    words = [events.path, "--setsid", "--keep", keep]
    steps = [step("open"), step("wait"), step("close")]
    seen = case.process.script({"a": handle(P.orphan, words)}, steps)
    attempted(events, orphan=1)
    expect("detached_writers", seen.steps[2].get("detached_writers"), False)


@requires("PROCESS-KILL-04", capability=HERE, inside=True)
@pytest.mark.parametrize("how", ["terminate", "kill", "close", "drop"])
def test_inside_the_next_process_with_the_launchers_pid_gets_no_signal(
    case: ProcessCase, how: str
) -> None:
    events, fifo, pause = case.events(), case.fifo("open"), Pause(case)
    handles = {"a": handle(P.gate, [events.path, fifo]), pause.name: pause.handle}
    steps = [step("open"), step("wait"), *pause.steps, step(how)]
    with case.process.start(handles, steps, within_s=15) as shim:
        number = procs.lineage(events.wait("ready").pid, shim.tree())[-1]
        case.open_gate(fifo)
        pause.reached()
        with numbered(case, number) as other:
            pause.go_on()
            shim.finish()
            other.communicate(timeout=10)
    expect("how a process with the child's old number ended", other.returncode, 0)
