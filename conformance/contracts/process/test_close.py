"""PROCESS-CLOSE and PROCESS-DROP: closing and dropping a handle."""

from __future__ import annotations

import pytest

from boxspec.api import at_least, expect, expect_within, requires
from boxspec.api import programs as P
from boxspec.subject.observe import procs
from contracts.process.client import ProcessCase, Script, handle, step
from contracts.process.judging import (
    CAT,
    Pause,
    behind_its_leader,
    end_of,
    is_stopped,
    leader_with_a_stopped_member,
    member_lives_on,
    shell,
    woken_by,
)
from contracts.shared.long_times import LARGEST, WRAPS
from contracts.shared.moments import attempted, expect_none_left, until


def end_siglog(
    case: ProcessCase, words: list[str], *last: dict[str, object], hold: bool = True
) -> Script:
    """Start a group that logs its signals. Run the steps when the group is ready."""
    pause, events = Pause(case), case.events()
    handles = {"a": handle(P.siglog, [events.path, *words]), pause.name: pause.handle}
    steps = [step("open"), *pause.steps, *last]
    with case.process.start(handles, steps, within_s=20, hold=hold) as shim:
        events.wait("ready")
        pause.reached()
        pause.go_on()
        return shim.finish()


@requires("PROCESS-CLOSE-01", needs=["PROCESS-KILL-02"])
def test_a_group_may_end_in_its_grace(case: ProcessCase) -> None:
    close = step("close")
    rules = ["--on", "TERM:exit:5:200", "--members", "1", "--member-on", "TERM:exit:0:400"]
    seen = end_siglog(case, rules, close)
    ends = {event.pid for event in case.events().all("end")}
    expect(
        "how the child ended, and the number of processes that ended without being killed",
        (seen.steps[3].get("exited"), len(ends)),
        (5, 2),
    )


@requires("PROCESS-CLOSE-01", overlap=0.6)
def test_a_child_that_ignores_the_signal_is_killed_after_the_grace(case: ProcessCase) -> None:
    words = ["--ignore", "TERM", "--members", "1", "--member-ignore", "TERM"]
    seen = end_siglog(case, words, step("close", grace_ms=400))
    ready = case.events().all("ready")[0].t_ns
    expect("how the child ended", seen.steps[3].get("signaled"), "SIGKILL")
    expect_none_left(seen, case.events(), member=1)
    expect(
        "time from the start of the child to its end, in ms",
        (seen.end.t_ns - ready) / 1e6,
        at_least(400),
    )


@requires("PROCESS-CLOSE-01", overlap=0.6, timing=True, needs=["PROCESS-KILL-02"])
def test_a_grace_is_no_longer_than_was_asked_for(case: ProcessCase) -> None:
    seen = end_siglog(case, [], step("close", grace_ms=400), hold=False)
    expect("how the child ended", seen.steps[3].get("signaled"), "SIGKILL")
    told = case.events().wait("signal").effect
    expect_within(case, "from SIGTERM to the end", told, seen.end, 400 + case.tick_ms)


@requires("PROCESS-CLOSE-01", needs=["PROCESS-KILL-02"])
def test_a_member_has_the_grace_when_its_leader_has_gone(case: ProcessCase) -> None:
    behind_its_leader(case, step("close", grace_ms=3000))
    heard = [
        {event.pid for event in case.events().all(word)} for word in ("ready", "signal", "end")
    ]
    expect(
        "processes that were ready, got SIGTERM, and ended without being killed",
        heard,
        [heard[0]] * 3,
    )


@requires("PROCESS-CLOSE-01", needs=["PROCESS-KILL-02"])
@pytest.mark.parametrize("grace", [*WRAPS.values(), LARGEST], ids=[*WRAPS, "2^64 - 1"])
def test_a_long_grace_is_a_long_time(case: ProcessCase, grace: int) -> None:
    seen = end_siglog(case, ["--on", "TERM:exit:5:200"], step("close", grace_ms=grace))
    expect("how the child ended", seen.steps[3].get("exited"), 5)


@requires("PROCESS-CLOSE-01", needs=["PROCESS-OPEN-01"])
def test_a_close_sends_sigterm_before_it_closes_stdin(case: ProcessCase) -> None:
    """Close a handle whose child would end at the end of its input.

    If the close began by closing stdin, the program would end before its signal.
    """
    talk = [step("write", data=b"x\n"), step("read_until", stream="stdout", until=b"\n")]
    seen = case.process.script({"a": handle(CAT)}, [step("open"), *talk, step("close")])
    expect("how the child ended", seen.steps[3].get("signaled"), "SIGTERM")


@requires("PROCESS-CLOSE-01", needs=["PROCESS-KILL-01"])
def test_a_close_after_a_terminate_sends_sigterm_again(case: ProcessCase) -> None:
    """Terminate a child, and then close its handle.

    A caller may first ask the process to end, and close it if it continues.
    """
    counts = "n=$((n + 1)); echo got $n; [ $n != 2 ] || exit 6"
    line = f"n=0; trap '{counts}' TERM; echo ready; while :; do sleep 0.05; done"
    reads = [step("read_until", stream="stdout", until=u) for u in (b"ready\n", b"got 1\n")]
    steps = [step("open"), reads[0], step("terminate"), reads[1], step("close", grace_ms=3000)]
    seen = case.process.script({"a": shell(line)}, steps, within_s=20)
    expect("how the child ended", end_of(seen.steps[4]), {"exited": 6, "signaled": None})


@requires("PROCESS-CLOSE-01", overlap=1.5, timing=True, needs=["PROCESS-KILL-02"])
def test_a_second_close_does_not_extend_the_grace_of_the_first(case: ProcessCase) -> None:
    events, pause = case.events(), Pause(case)
    handles = {"a": handle(P.siglog, [events.path]), pause.name: pause.handle}
    closes = [step("close", grace_ms=1000, thread="t"), step("close", grace_ms=9000)]
    ready = Pause(case, "ready")
    handles[ready.name] = ready.handle
    steps = [step("open"), *ready.steps, closes[0], *pause.steps, closes[1]]
    steps += [step("join", thread="t")]
    with case.process.start(handles, steps, within_s=20) as shim:
        events.wait("ready")
        ready.reached()
        ready.go_on()
        told = events.wait("signal").effect
        pause.reached()
        pause.go_on()
        seen = shim.finish()
    expect("how the child ended", seen.steps[3].get("signaled"), "SIGKILL")
    expect_within(case, "from SIGTERM to the end", told, seen.end, 1000 + 5 * case.tick_ms)


@requires("PROCESS-CLOSE-01", needs=["PROCESS-KILL-01"])
def test_a_close_wakes_a_wait_in_another_thread(case: ProcessCase) -> None:
    expect("the answer of the wait", woken_by(case, step("close")), {"signaled": "SIGTERM"})


@requires("PROCESS-CLOSE-02", needs=["PROCESS-EOF-02", "PROCESS-GROUP-02"])
@pytest.mark.parametrize("keep", ["out", "err", "none"])
def test_detached_writers_is_true_for_a_writer_outside_the_group(
    case: ProcessCase, keep: str
) -> None:
    words = [case.events().path, "--setsid", "--keep", keep]
    steps = [step("open"), step("wait"), step("close")]
    seen = case.process.script({"a": handle(P.orphan, words)}, steps)
    helper = case.events().wait("orphan").pid
    lives = helper in {each.pid for each in seen.lasting}
    expect("whether the process is alive", lives, True, verdict="unproven")
    expect("detached_writers", seen.steps[2].get("detached_writers"), keep != "none")


@requires("PROCESS-CLOSE-02", needs=["PROCESS-GROUP-02"])
@pytest.mark.parametrize(("stream", "other"), [("out", "2"), ("err", "1")])
def test_detached_writers_is_true_if_its_output_was_not_read(
    case: ProcessCase, stream: str, other: str
) -> None:
    # The pipe still has bytes to read. So the reader has not seen the end of the stream.
    pause, events = Pause(case), case.events()
    line = f'setsid "$1" "$2" --{stream} left {other}>/dev/null </dev/null & exec "$3" "$4" "$5"'
    gate, fifo = case.events("gate"), case.fifo("gate")
    handles = {
        "a": shell(line, P.siglog, events.path, P.gate, gate.path, fifo),
        pause.name: pause.handle,
    }
    steps = [step("open"), *pause.steps, step("wait"), step("close")]
    with case.process.start(handles, steps, within_s=15) as shim:
        events.wait("ready")
        gate.wait("ready")
        case.open_gate(fifo)
        pause.reached()
        pause.go_on()
        seen = shim.finish()
    expect("detached_writers", seen.steps[-1].get("detached_writers"), True)


@requires("PROCESS-CLOSE-01")
def test_no_grace_is_none(case: ProcessCase) -> None:
    # The grace period is shorter than the default of five seconds.
    words = ["--ignore", "TERM"]
    seen = end_siglog(case, words, step("close", grace_ms=0))
    ready = case.events().all("ready")[0]
    expect("how the child ended", seen.steps[3].get("signaled"), "SIGKILL")
    expect_within(case, "from ready to the end", ready.cause, seen.end, 4000)


@requires("PROCESS-CLOSE-02")
def test_unread_output_without_a_writer_is_no_detached_writer(case: ProcessCase) -> None:
    line = "printf left; printf left >&2"
    seen = case.process.script({"a": shell(line)}, [step("open"), step("wait"), step("close")])
    expect("detached_writers", seen.steps[2].get("detached_writers"), False)


@requires("PROCESS-CLOSE-02")
def test_detached_writers_is_false_for_a_taken_stream(case: ProcessCase) -> None:
    words = [case.events().path, "--setsid", "--keep", "out"]
    take = step("take", stream="stdout")
    steps = [step("open"), take, step("wait"), step("close")]
    seen = case.process.script({"a": handle(P.orphan, words)}, steps)
    expect("detached_writers", seen.steps[3].get("detached_writers"), False)


@requires("PROCESS-CLOSE-02")
@pytest.mark.parametrize("first", [[], [step("kill"), step("wait")]], ids=["close", "kill"])
def test_detached_writers_is_false_for_members_of_the_group(
    case: ProcessCase, first: list[dict[str, object]]
) -> None:
    # There are so many members that some are still ending after others have ended.
    words = ["--ignore", "TERM", "--members", "24", "--member-ignore", "TERM"]
    seen = end_siglog(case, words, *first, step("close", grace_ms=0))
    attempted(case.events(), member=24)
    expect("detached_writers", seen.steps[-1].get("detached_writers"), False)


@requires("PROCESS-CLOSE-03")
def test_a_second_close_reports_detached_writers_too(case: ProcessCase) -> None:
    words = [case.events().path, "--setsid", "--keep", "out"]
    steps = [step("open"), step("wait"), step("close"), step("close")]
    seen = case.process.script({"a": handle(P.orphan, words)}, steps)
    attempted(case.events(), orphan=1)
    told = [each.get("detached_writers") for each in seen.steps[2:]]
    expect("detached_writers of the second close", told[1], told[0])


@requires("PROCESS-CLOSE-04", needs=["PROCESS-KILL-01"])
def test_a_stopped_child_may_use_its_grace(case: ProcessCase) -> None:
    pause, events = Pause(case), case.events()
    stopped = handle(P.stop_self, [events.path, "--on", "TERM:exit:6"])
    steps = [step("open"), *pause.steps, step("close", grace_ms=3000)]
    with case.process.start({"a": stopped, pause.name: pause.handle}, steps, within_s=20) as shim:
        pid = events.wait("stopping").pid
        pause.reached()
        until(lambda: (found := procs.proc(pid)) is not None and found.state == "T")
        pause.go_on()
        seen = shim.finish()
    expect("how the child ended", end_of(seen.steps[3]), {"exited": 6, "signaled": None})


@requires("PROCESS-CLOSE-04")
def test_a_stopped_member_may_use_its_grace(case: ProcessCase) -> None:
    pause, events = Pause(case), case.events()
    program, words = leader_with_a_stopped_member(str(events.path))
    handles = {"a": handle(program, words), pause.name: pause.handle}
    steps = [step("open"), *pause.steps, step("close", grace_ms=3000)]
    with case.process.start(handles, steps, within_s=20) as shim:
        events.wait("ready")
        member = events.wait("stopping").pid
        pause.reached()
        until(lambda: is_stopped(member))
        pause.go_on()
        shim.finish()
    ended = {event.pid for event in events.all("end")}
    expect("whether the member ended by itself", member in ended, True)


@requires("PROCESS-CLOSE-05")
@pytest.mark.parametrize("keep", ["out,err", "none"])
def test_a_closed_handle_has_no_streams(case: ProcessCase, keep: str) -> None:
    words = [case.events().path, "--setsid", "--keep", keep]
    steps = [step("open"), step("wait"), step("close"), step("streams")]
    seen = case.process.script({"a": handle(P.orphan, words)}, steps)
    expect(
        "streams that the handle still has",
        seen.steps[3],
        dict.fromkeys(("stdin", "stdout", "stderr"), False),
    )


@requires("PROCESS-CLOSE-07", overlap=0.5, needs=["PROCESS-CLOSE-01"])
@pytest.mark.parametrize("fd", [1, 2])
def test_a_child_may_write_in_its_grace(case: ProcessCase, fd: int) -> None:
    # A write to a pipe without a reader ends the shell by SIGPIPE. The first write may come before
    # the pipe is closed, but not all of them.
    bye = f"for i in 1 2 3 4 5; do sleep 0.04; echo bye >&{fd}; done; exit 6"
    line = f"trap '{bye}' TERM; echo ready; while :; do sleep 0.05; done"
    ready = step("read_until", stream="stdout", until=b"ready\n")
    steps = [step("open"), ready, step("close", grace_ms=30_000)]
    seen = case.process.script({"a": shell(line)}, steps, within_s=20)
    expect("how the child ended", end_of(seen.steps[2]), {"exited": 6, "signaled": None})


@requires("PROCESS-CLOSE-03")
@pytest.mark.parametrize("first", ["close", "wait"])
def test_a_second_close_returns_the_same(case: ProcessCase, first: str) -> None:
    steps = [step("open"), step(first), step("close"), step("close")]
    seen = case.process.script({"a": handle(P.exit_with, ["7"])}, steps)
    one, two = seen.steps[2], seen.steps[3]
    expect("whether the two results are equal", one == two, True)
    expect("detached_writers of both results", one.get("detached_writers"), False)


@requires("PROCESS-CLOSE-03")
def test_concurrent_closes_return_the_same(case: ProcessCase) -> None:
    ignores = {"a": shell("trap '' TERM; echo ready; exec sleep 60")}
    closes = [step("close", grace_ms=400, thread=who) for who in "xy"]
    ready = step("read_until", stream="stdout", until=b"ready\n")
    steps = [step("open"), ready, *closes, *(step("join", thread=who) for who in "xy")]
    seen = case.process.script(ignores, steps, within_s=15)
    wanted = {"signaled": "SIGKILL", "detached_writers": False}
    expect("the answers of both closes", seen.steps[2:4], [wanted, wanted])


@requires("PROCESS-DROP-01")
@pytest.mark.parametrize("ignored", [True, False])
def test_a_dropped_handle_leaves_nothing(case: ProcessCase, ignored: bool) -> None:
    words = [
        "--members",
        "2",
        *(["--ignore", "TERM", "--member-ignore", "TERM"] if ignored else []),
    ]
    seen = end_siglog(case, words, step("drop"))
    expect_none_left(seen, case.events(), ready=1, member=2)


@requires("PROCESS-DROP-01")
def test_a_drop_returns_after_the_end(case: ProcessCase) -> None:
    before, after, events = Pause(case), Pause(case, "after"), case.events()
    handles = {"a": handle(P.siglog, [events.path, "--ignore", "TERM"])}
    handles |= {each.name: each.handle for each in (before, after)}
    steps = [step("open"), *before.steps, step("drop"), *after.steps]
    with case.process.start(handles, steps, within_s=20) as shim:
        events.wait("ready")
        before.reached()
        before.go_on()
        after.reached()
        left = [each.describe() for each in shim.children() if not each.alive]
        after.go_on()
        shim.finish()
    expect("children that have ended and are not reaped", left, [])


@requires("PROCESS-DROP-01")
def test_a_drop_after_the_leaders_end_kills_the_rest(case: ProcessCase) -> None:
    lives, _ = member_lives_on(case, step("drop"))
    expect("whether the member is alive", lives, False)


@requires("PROCESS-DROP-01")
@pytest.mark.parametrize("keep", ["out", "err"])
def test_a_drop_does_not_wait_for_other_groups(case: ProcessCase, keep: str) -> None:
    words = [case.events().path, "--setsid", "--keep", keep]
    steps = [step("open"), step("wait"), step("drop"), step("open", "b"), step("wait", "b")]
    handles = {"a": handle(P.orphan, words), "b": handle("/bin/true")}
    seen = case.process.script(handles, steps, within_s=10)
    expect("how the next child ended", seen.steps[4], {"exited": 0})


@requires("PROCESS-DROP-01", needs=["PROCESS-KILL-01"])
def test_a_drop_wakes_a_wait_in_another_thread(case: ProcessCase) -> None:
    expect("the answer of the wait", woken_by(case, step("drop")), {"signaled": "SIGKILL"})


@requires("PROCESS-DROP-01")
def test_a_dropped_handle_is_gone(case: ProcessCase) -> None:
    seen = case.process.script({"a": handle(CAT)}, [step("open"), step("drop")], hold=True)
    expect(
        "processes and zombies", [each.describe() for each in (*seen.lasting, *seen.zombies)], []
    )
