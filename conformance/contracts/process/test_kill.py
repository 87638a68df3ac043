"""PROCESS-KILL, PROCESS-GROUP, PROCESS-THREAD: signals, and processes that must not be left."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator

import pytest

from boxspec.api import HostLacks, Late, NotMeasured, expect, requires
from boxspec.api import programs as P
from boxspec.subject.observe import procs
from contracts.process.client import BridgeOptions, ProcessCase, Step, handle, step
from contracts.process.judging import (
    CAT,
    LINGER_MS,
    Pause,
    behind_its_leader,
    member_lives_on,
    shell,
    woken_by,
)
from contracts.shared.moments import elapsed_ms, expect_none_left, until


@requires("PROCESS-KILL-01", needs=["PROCESS-CHILD-02"])
@pytest.mark.parametrize(("how", "name"), [("terminate", "SIGTERM"), ("kill", "SIGKILL")])
def test_terminate_and_kill_send_their_signals(case: ProcessCase, how: str, name: str) -> None:
    steps = [step("open"), step(how), step("wait", timeout_ms=5000)]
    seen = case.process.script({"a": handle(CAT)}, steps, within_s=15)
    expect("how the child ended", seen.steps[2], {"signaled": name})


@requires("PROCESS-KILL-01", needs=["PROCESS-CHILD-02"])
@pytest.mark.parametrize(("how", "name"), [("terminate", "SIGTERM"), ("kill", "SIGKILL")])
def test_a_signal_wakes_a_wait_in_another_thread(case: ProcessCase, how: str, name: str) -> None:
    expect("the answer of the wait", woken_by(case, step(how)), {"signaled": name})


@requires("PROCESS-KILL-01")
def test_a_terminate_does_not_kill(case: ProcessCase) -> None:
    """Terminate a child that ignores SIGTERM. It must continue to run, because only `close` has a
    grace period."""
    ready = step("read_until", stream="stdout", until=b"ready\n")
    look = step("wait", timeout_ms=300)
    steps = [step("open"), ready, step("terminate"), look, step("kill"), step("wait")]
    line = "trap '' TERM; echo ready; exec sleep 60"
    seen = case.process.script({"a": shell(line)}, steps, within_s=20)
    got = (seen.steps[3], seen.steps[5])
    expect(
        "the result of a poll, and how the child ended",
        got,
        ({"running": True}, {"signaled": "SIGKILL"}),
    )


@requires("PROCESS-KILL-02", needs=["PROCESS-CHILD-02"])
@pytest.mark.parametrize("how", ["terminate", "kill"])
def test_each_member_of_the_group_gets_the_signal(case: ProcessCase, how: str) -> None:
    pause, events = Pause(case), case.events()
    rules = ["--on", "TERM:exit:0", "--member-on", "TERM:exit:0", "--member-on", "TERM:exit:0"]
    words = [events.path, "--members", "2", *(rules if how == "terminate" else [])]
    handles = {"a": handle(P.siglog, words), pause.name: pause.handle}
    steps = [step("open"), *pause.steps, step(how), step("wait")]
    with case.process.start(handles, steps, within_s=15) as shim:
        events.wait("ready")
        pause.reached()
        pause.go_on()
        seen = shim.finish()
    wanted = {"exited": 0} if how == "terminate" else {"signaled": "SIGKILL"}
    expect("how the child ended", seen.steps[4], wanted)
    expect_none_left(seen, events, member=2)


@requires("PROCESS-KILL-02", needs=["PROCESS-CHILD-02"])
def test_members_receive_the_first_signal_too(case: ProcessCase) -> None:
    pause, second, events = Pause(case), Pause(case, "second"), case.events()
    words = [events.path, "--members", "2"]
    names = {pause.name: pause.handle, second.name: second.handle}
    steps = [step("open"), *pause.steps, step("terminate"), *second.steps, step("drop")]
    with case.process.start({"a": handle(P.siglog, words), **names}, steps, within_s=20) as shim:
        events.wait("ready")
        pause.reached()
        pause.go_on()
        heard = {events.wait("signal").pid for _ in range(3)}
        second.reached()
        second.go_on()
        shim.finish()
    expect("number of group members that got the signal", len(heard), 3)


@requires("PROCESS-KILL-02")
def test_a_kill_reaches_members_that_outlive_the_leader(case: ProcessCase) -> None:
    """Kill a group after the end of its leader.

    The caller has not waited for the leader, so it does not know that the leader has ended.
    """
    lives, _ = member_lives_on(case, step("kill"))
    expect("whether the member is alive", lives, False)


@requires("PROCESS-KILL-02", needs=["PROCESS-CHILD-02"])
def test_a_terminate_reaches_members_that_outlive_the_leader(case: ProcessCase) -> None:
    behind_its_leader(case, step("terminate"), heard=True)
    heard = [{event.pid for event in case.events().all(word)} for word in ("ready", "signal")]
    expect("the processes that were ready, and those that got SIGTERM", heard, [heard[0]] * 2)


@requires("PROCESS-KILL-03", needs=["PROCESS-WAIT-02"])
@pytest.mark.parametrize("how", ["terminate", "kill"])
@pytest.mark.parametrize("behind", [[], [step("close")]], ids=["wait", "close"])
def test_a_signal_after_the_end_has_no_effect(
    case: ProcessCase, how: str, behind: list[Step]
) -> None:
    steps = [step("open"), step("wait"), *behind, step(how), step("wait")]
    seen = case.process.script({"a": handle("/bin/true")}, steps)
    expect("the answer of the signal, and of a wait", seen.steps[-2:], [{}, {"exited": 0}])


@contextlib.contextmanager
def numbered(case: ProcessCase, number: int) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process with that number. It ends when its stdin ends."""
    events = case.events("numbered")
    words = [P.numbered, events.path, str(number)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, process_group=0) as other:
        try:
            if not until(lambda: bool(events.all("ready")) or other.poll() is not None):
                raise NotMeasured(f"no process got the number {number}")
            if other.returncode == 4:
                raise HostLacks("root", "only root can start a process with a chosen pid")
            if other.returncode == 3:
                raise NotMeasured(f"another process has the number {number}")
            yield other
        finally:
            other.kill()


@requires("PROCESS-KILL-04")
@pytest.mark.parametrize("how", ["terminate", "kill", "close", "drop"])
def test_the_next_process_with_the_same_pid_gets_no_signal(case: ProcessCase, how: str) -> None:
    pause, place = Pause(case), case.tmp / "pid"
    handles = {"a": shell('echo $$ >"$1"', place), pause.name: pause.handle}
    steps = [step("open"), step("wait"), *pause.steps, step(how)]
    with case.process.start(handles, steps, within_s=15) as shim:
        pause.reached()
        with numbered(case, int(place.read_text())) as other:
            pause.go_on()
            shim.finish()
            other.communicate(timeout=10)
    expect("how a process with the child's old number ended", other.returncode, 0)


@requires("PROCESS-KILL-04", overlap=0.5, needs=["PROCESS-BRIDGE-08"])
def test_a_bridge_killed_after_the_end_kills_no_other_process(case: ProcessCase) -> None:
    # A process that has left the group holds the output. So the bridge outlives its child for a
    # while.
    events = case.events()
    words = [events.path, "--setsid", "--keep", "out"]
    options: BridgeOptions = {"stdin": "pipe", "expect_result": False, "within_s": 15}
    with case.process.start_bridge(P.orphan, words, **options) as shim:
        spared, end = {events.wait("orphan").pid}, events.wait("end")
        if not until(lambda: procs.proc(end.pid) is None, 2):
            raise NotMeasured("the bridge does not reap the child before its own end")
        if shim.running:
            shim.at_rest()  # the bridge now waits for the output
        with numbered(case, end.pid) as other:
            waits, since_ms = shim.running, elapsed_ms(end.t_ns, shim.now_ns())
            shim.signal("KILL")
            shim.wait_exit()
            # If the bridge has a watcher process, the watcher must have ended as well.
            until(lambda: {each.pid for each in shim.descendants() if each.alive} <= spared, 2)
            other.communicate(timeout=10)
    if not waits and since_ms > LINGER_MS / 2:
        what = "from the child's end to a process with its number"
        raise Late(what, f"at most {LINGER_MS / 2:g} ms", f"{since_ms:.0f} ms")
    expect("how a process with the child's old number ended", other.returncode, 0)


@requires("PROCESS-GROUP-01")
@pytest.mark.parametrize("kept", ["out", "none"])
@pytest.mark.parametrize("waits", [step("wait"), step("wait", timeout_ms=10_000)])
def test_members_left_by_the_leader_are_killed(case: ProcessCase, kept: str, waits: Step) -> None:
    events = case.events()
    words = [events.path, "--keep", kept, "--exit", "3", "--ignore", "TERM", "--ignore", "HUP"]
    with case.process.start(
        {"a": handle(P.orphan, words)}, [step("open"), waits], hold=True
    ) as shim:
        seen = shim.finish()
    expect("how the child ended", seen.steps[1], {"exited": 3})
    expect_none_left(seen, events, orphan=1)


@requires("PROCESS-GROUP-01")
def test_a_poll_kills_the_members_that_the_leader_left(case: ProcessCase) -> None:
    """Poll a handle after its leader has left members.

    A poll does not block, so its answer may come before the end of the killed member.
    """
    wait = step("wait", timeout_ms=10_000)
    lives, seen = member_lives_on(case, step("poll"), wait, hold=True)
    polled = seen.steps[3] in ({"running": True}, {"exited": 3})
    answers = (polled, seen.steps[-1])
    expect(
        "whether the poll reports `running` or the exit code, and how the child ended",
        answers,
        (True, {"exited": 3}),
    )
    expect("whether the member is alive after the poll", lives, False)
    expect_none_left(seen, case.events(), orphan=1)


@requires("PROCESS-GROUP-02")
def test_a_process_that_left_the_group_lives_on(case: ProcessCase) -> None:
    events = case.events()
    words = [events.path, "--keep", "none", "--setsid"]
    seen = case.process.script({"a": handle(P.orphan, words)}, [step("open"), step("wait")])
    helper = events.wait("orphan").pid
    expect(
        "whether the process that left the group is alive",
        helper in {each.pid for each in seen.lasting},
        True,
    )


@requires("PROCESS-GROUP-02")
@pytest.mark.parametrize("how", ["terminate", "kill", "close", "drop"])
def test_a_process_that_left_an_ended_group_lives_on(case: ProcessCase, how: str) -> None:
    """End a group after one of its processes has left it.

    The parent of that process is alive, so an implementation could find the process through its
    parent.
    """
    group, left, pause = case.events(), case.events("left"), Pause(case)
    line = 'setsid "$1" "$2" </dev/null >/dev/null 2>&1 & exec "$1" "$3" --on TERM:exit:0'
    handles = {"a": shell(line, P.siglog, left.path, group.path), pause.name: pause.handle}
    steps = [step("open"), *pause.steps, step(how)]
    steps += [] if how == "drop" else [step("wait", timeout_ms=10_000)]
    with case.process.start(handles, steps, within_s=20) as shim:
        group.wait("ready")
        helper = left.wait("ready").pid
        pause.reached()
        pause.go_on()
        seen = shim.finish()
    expect(
        "whether the process that left the group is alive",
        helper in {each.pid for each in seen.lasting},
        True,
    )


@requires("PROCESS-THREAD-01", needs=["PROCESS-OPEN-01"])
def test_the_thread_that_opened_may_end(case: ProcessCase) -> None:
    talk = [step("write", data=b"x\n"), step("read_until", stream="stdout", until=b"\n")]
    steps = [step("open", thread="o"), step("join", thread="o"), *talk]
    # Close stdin explicitly, because another test is about the effect of a wait on stdin.
    steps += [step("close_stdin"), step("wait")]
    seen = case.process.script({"a": handle(CAT)}, steps, within_s=15)
    expect(
        "the child's reply, and how it ended",
        (seen.data(3), seen.steps[5]),
        (b"x\n", {"exited": 0}),
    )
