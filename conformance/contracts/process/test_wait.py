"""PROCESS-WAIT: how the end of a process is reported."""

from __future__ import annotations

import pytest

from boxspec.api import NotMeasured, at_least, expect, requires
from boxspec.api import programs as P
from boxspec.subject.observe import procs
from contracts.process.client import ProcessCase, Script, Step, handle, step
from contracts.process.judging import (
    CAT,
    RUNNING,
    Pause,
    has_ended,
    is_stopped,
    member_lives_on,
    shell,
)
from contracts.shared.long_times import LARGEST, WRAPS
from contracts.shared.moments import need_preload, pass_time, send, until

ENDS = {
    "exit 0": {"exited": 0},
    "exit 3": {"exited": 3},
    "exit 137": {"exited": 137},
    "exit 255": {"exited": 255},
    "kill -TERM $$": {"signaled": "SIGTERM"},
    "kill -KILL $$": {"signaled": "SIGKILL"},
}


@requires("PROCESS-WAIT-01")
@pytest.mark.parametrize("line", ENDS)
def test_an_end_is_a_code_or_a_signal(case: ProcessCase, line: str) -> None:
    seen = case.process.script({"a": shell(line)}, [step("open"), step("wait")])
    expect("how the child ended", seen.steps[1], ENDS[line])


@requires("PROCESS-WAIT-01")
def test_a_signal_without_a_name_of_its_own_is_reported_as_a_signal(case: ProcessCase) -> None:
    """The shim may choose any name for signal 40, which is a real-time signal."""
    seen = case.process.script({"a": shell("kill -40 $$")}, [step("open"), step("wait")])
    told = seen.steps[1]
    got = ([*told], bool(told.get("signaled")))
    expect(
        "which field the answer of `wait` has, and whether the field has a name",
        got,
        (["signaled"], True),
    )


@requires("PROCESS-WAIT-01")
def test_a_dumped_core_is_no_part_of_the_signal(case: ProcessCase) -> None:
    line = "ulimit -c unlimited 2>/dev/null; kill -ABRT $$"
    fields = {"current_dir": str(case.tmp)}
    seen = case.process.script(
        {"a": {"request": shell(line)["request"] | fields}}, [step("open"), step("wait")]
    )
    expect("how the child ended", seen.steps[1], {"signaled": "SIGABRT"})


@requires("PROCESS-WAIT-01")
@pytest.mark.parametrize("look", [step("poll"), step("wait", timeout_ms=0)], ids=["poll", "wait"])
def test_the_first_poll_after_the_end_reports_it(case: ProcessCase, look: Step) -> None:
    events, pause = case.events(), Pause(case)
    handles = {"a": handle(P.slow_exit, [events.path, "0"]), pause.name: pause.handle}
    with case.process.start(handles, [step("open"), *pause.steps, look]) as shim:
        leader = events.wait("ready").pid
        pause.reached()
        until(lambda: has_ended(case, shim, leader))
        pause.go_on()
        seen = shim.finish()
    expect("how the child ended", seen.steps[-1], {"exited": 0})


@requires("PROCESS-WAIT-01", needs=["PROCESS-CHILD-02"])
@pytest.mark.parametrize(
    "signal",
    [step("kill"), step("terminate"), step("close", grace_ms=100)],
    ids=lambda s: s["step"],
)
def test_a_signal_after_the_exit_is_not_the_end(case: ProcessCase, signal: Step) -> None:
    """Send a signal after the child's exit.

    The caller does not know of the exit yet. So the signal is sent, and it reaches only a member of
    the group.
    """
    _, seen = member_lives_on(case, signal, step("wait"))
    expect("how the child ended", seen.steps[-1], {"exited": 3})


@requires("PROCESS-WAIT-02")
@pytest.mark.parametrize("line", ["exit 3", "kill -KILL $$"])
def test_a_second_wait_returns_the_same(case: ProcessCase, line: str) -> None:
    steps = [step("open"), step("wait"), step("wait"), step("poll"), step("wait", timeout_ms=1)]
    seen = case.process.script({"a": shell(line)}, steps)
    expect("the answers of the four waits", seen.steps[1:], [ENDS[line]] * 4)


@requires("PROCESS-WAIT-02")
def test_waits_of_two_threads_return_the_same(case: ProcessCase) -> None:
    events, fifo = case.events(), case.fifo("gate")
    steps = [step("open"), *(step("wait", thread=who) for who in "xy"), step("wait")]
    steps += [step("join", thread=who) for who in "xy"]
    gate = handle(P.gate, [events.path, fifo, "--exit", 7])
    with case.process.start({"a": gate}, steps, within_s=15) as shim:
        events.wait("ready")
        # By this time each thread sleeps, or is about to.
        case.open_gate(fifo)
        seen = shim.finish()
    expect("the answers of the three waits", seen.steps[1:4], [{"exited": 7}] * 3)


# The wait of the other thread: without a limit, with a long one, or with one that passes while both
# threads wait.
OTHER_WAITS: dict[str, Step] = {
    "no limit": step("wait", thread="x"),
    "long": step("wait", timeout_ms=60_000, thread="x"),
    "short": step("wait", timeout_ms=150, thread="x"),
}


@requires("PROCESS-WAIT-03", overlap=0.8)
@pytest.mark.parametrize("other", OTHER_WAITS)
def test_a_limit_is_not_cut_by_a_wait_of_another_thread(case: ProcessCase, other: str) -> None:
    events, fifo, pause = case.events(), case.fifo("gate"), Pause(case)
    gate = handle(P.gate, [events.path, fifo, "--exit", 7])
    steps = [step("open"), OTHER_WAITS[other], *pause.steps, step("wait", timeout_ms=60_000)]
    steps += [step("join", thread="x")]
    with case.process.start({"a": gate, pause.name: pause.handle}, steps, within_s=15) as shim:
        events.wait("ready")
        pause.reached()
        # The other thread waits at this point.
        procs.blocked_at_rest(shim.shim_pid)
        pause.go_on()
        # In this time the short limit passes. A wait that is wrongly cut would return.
        pass_time(400)
        case.open_gate(fifo)
        seen = shim.finish()
    expect("how the child ended", seen.steps[4], {"exited": 7})


@requires("PROCESS-WAIT-03", needs=["PROCESS-OPEN-01"])
@pytest.mark.parametrize("look", [step("poll"), step("wait", timeout_ms=50)], ids=["0", "50"])
def test_a_wait_that_times_out_changes_nothing(case: ProcessCase, look: dict[str, object]) -> None:
    talk = [step("write", data=b"x\n"), step("read_until", stream="stdout", until=b"\n")]
    steps = [step("open"), look, *talk, look, step("close_stdin"), step("wait")]
    seen = case.process.script({"a": handle(CAT)}, steps)
    got = (seen.steps[1], seen.data(3), seen.steps[4], seen.steps[6])
    running = {"running": True}
    expect(
        "poll, reply of the child, poll, how the child ended",
        got,
        (running, b"x\n", running, {"exited": 0}),
    )


@requires("PROCESS-WAIT-03")
@pytest.mark.parametrize(
    "limit", [*WRAPS.values(), 2**63, LARGEST], ids=[*WRAPS, "2^63", "2^64 - 1"]
)
def test_a_long_limit_is_a_long_time(case: ProcessCase, limit: int) -> None:
    steps = [step("open"), step("wait", timeout_ms=limit), step("poll")]
    seen = case.process.script({"a": shell("sleep 0.2; exit 3")}, steps, within_s=15)
    expect("how the child ended, in both answers", seen.steps[1:], [{"exited": 3}] * 2)


@requires("PROCESS-WAIT-04")
def test_a_wait_without_limit_ends_the_input(case: ProcessCase) -> None:
    seen = case.process.script({"a": handle(CAT)}, [step("open"), step("wait")], within_s=8)
    expect("how the child ended", seen.steps[1], {"exited": 0})


@requires("PROCESS-WAIT-04")
def test_a_wait_without_limit_ends_the_input_during_another_wait(case: ProcessCase) -> None:
    pause = Pause(case)
    steps = [step("open"), step("wait", timeout_ms=60_000, thread="t"), *pause.steps]
    steps += [step("wait"), step("join", thread="t")]
    handles = {"a": handle(CAT), pause.name: pause.handle}
    with case.process.start(handles, steps, within_s=10) as shim:
        pause.reached()
        # The other thread waits at this point.
        procs.blocked_at_rest(shim.shim_pid)
        pause.go_on()
        seen = shim.finish()
    expect("the ends", (seen.steps[1], seen.steps[4]), ({"exited": 0}, {"exited": 0}))


@requires("PROCESS-WAIT-04")
def test_a_wait_without_limit_leaves_a_stdin_that_was_taken(case: ProcessCase) -> None:
    pause = Pause(case)
    handles = {"a": handle(CAT), pause.name: pause.handle}
    talk = [step("write", data=b"x\n"), step("read_until", stream="stdout", until=b"\n")]
    steps = [step("open"), step("take", stream="stdin"), step("wait", thread="w"), *pause.steps]
    steps += [*talk, step("close_stdin"), step("join", thread="w")]
    with case.process.start(handles, steps, within_s=15) as shim:
        # The wait has begun at this point.
        pause.reached()
        pause.go_on()
        seen = shim.finish()
    expect(
        "the answer, and how the child ended",
        (seen.data(6), seen.steps[2]),
        (b"x\n", {"exited": 0}),
    )


@requires("PROCESS-WAIT-04")
def test_a_wait_with_a_limit_leaves_the_input_open(case: ProcessCase) -> None:
    steps = [step("open"), step("wait", timeout_ms=30), step("streams")]
    seen = case.process.script({"a": handle(CAT)}, steps)
    expect("whether the handle has stdin", seen.steps[2].get("stdin"), True)


@requires("PROCESS-WAIT-05", needs=["PROCESS-KILL-01"])
@pytest.mark.parametrize("how", ["wait", "poll", "close"])
def test_a_child_reaped_by_other_code_is_an_error(case: ProcessCase, how: str) -> None:
    # The preload reaps children only after the program has started. Before that it could reap a
    # process that checks the sandbox.
    pause, events, fifo, theft = Pause(case), case.events(), case.fifo("gate"), case.fifo("theft")
    handles = {
        "a": handle(P.gate, [events.path, fifo, "--exit", 7]),
        pause.name: pause.handle,
    }
    steps = [step("open"), *pause.steps, step(how), step("close")]
    state, place = ["--preload", P.preload("steal_child")], {"BOXSPEC_STEAL_FROM": str(theft)}
    with case.process.start(handles, steps, state=state, shim_env=place, within_s=15) as shim:
        events.wait("ready")
        pause.reached()
        need_preload(shim, "steal_child")
        case.open_gate(theft)
        children = len(shim.children())
        case.open_gate(fifo)
        if not until(lambda: len(shim.children()) < children):
            raise NotMeasured("the test's preloaded library reaped no child before the step")
        pause.go_on()
        seen = shim.finish()
    said = [each.get("error", each) for each in seen.steps[3:]]
    told = [(each.get("kind"), str(each.get("message", each))[:12]) for each in said]
    expect(
        "the errors of the wait and of the close after it",
        told,
        [("execution", "wait error: ")] * 2,
    )


@requires("PROCESS-WAIT-03", overlap=2.5)
@pytest.mark.parametrize(("limit_ms", "times"), [(199, 10), (1990, 1)])
def test_a_limit_does_not_pass_early(case: ProcessCase, limit_ms: int, times: int) -> None:
    waits = [step("wait", timeout_ms=limit_ms)] * times
    steps = [step("open"), *waits, step("kill")]
    seen = case.process.script({"a": handle("/bin/sleep", ["60"])}, steps)
    expect("what the waits report", seen.steps[1 : times + 1], [RUNNING] * times)
    # The shim lives longer than the sum of all waits. On a busy machine its start takes so long
    # that it could hide one wait that is slightly too short, but not ten of them.
    took = (seen.end.t_ns - seen.start.t_ns) / 1e6
    expect("how long the shim lived, in ms", took, at_least(limit_ms * times))


# The streams that a child closes before it continues.
EARLY = {
    "stdin": "exec <&-",
    "stdout": "exec >&-",
    "stderr": "exec 2>&-",
    "all": "exec <&- >&- 2>&-",
    "both outputs": "exec >&- 2>&-",
}


def waits_of(case: ProcessCase) -> tuple[Pause, Pause, list[Step]]:
    """Return two pauses and the steps of a script.

    One thread waits for the child without a limit. After the first pause the child is polled, and
    waited for with a limit. Then the second pause follows.
    """
    pause, looked = Pause(case), Pause(case, "looked")
    steps = [step("open"), step("wait", thread="w"), *pause.steps, step("poll")]
    steps += [step("wait", timeout_ms=150), *looked.steps, step("join", thread="w"), step("wait")]
    return pause, looked, steps


def expect_running(seen: Script) -> None:
    got = [seen.steps[at] for at in (4, 5, 1, 9)]
    expect(
        "two polls, and how the child ended, in both answers",
        got,
        [RUNNING] * 2 + [{"exited": 7}] * 2,
    )


@requires("PROCESS-WAIT-06")
@pytest.mark.parametrize("what", EARLY)
def test_a_child_that_closed_its_streams_is_running(case: ProcessCase, what: str) -> None:
    events, fifo, (pause, looked, steps) = case.events(), case.fifo("gate"), waits_of(case)
    line = f'{EARLY[what]}; exec "$1" "$2" "$3" --exit 7'
    handles = {"a": shell(line, P.gate, events.path, fifo)}
    handles |= {each.name: each.handle for each in (pause, looked)}
    with case.process.start(handles, steps, within_s=15) as shim:
        events.wait("ready")
        pause.reached()
        pause.go_on()
        looked.reached()
        case.open_gate(fifo)
        looked.go_on()
        seen = shim.finish()
    expect_running(seen)


@requires("PROCESS-WAIT-06")
def test_a_stopped_child_is_running(case: ProcessCase) -> None:
    events, fifo, (pause, looked, steps) = case.events(), case.fifo("gate"), waits_of(case)
    handles = {"a": handle(P.gate, [events.path, fifo, "--exit", 7])}
    handles |= {each.name: each.handle for each in (pause, looked)}
    with case.process.start(handles, steps, within_s=15) as shim:
        pid = events.wait("ready").pid
        pause.reached()
        send(pid, "STOP")
        until(lambda: is_stopped(pid))
        pause.go_on()
        looked.reached()
        send(pid, "CONT")
        case.open_gate(fifo)
        looked.go_on()
        seen = shim.finish()
    expect_running(seen)
