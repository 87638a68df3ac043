"""EXEC-ORPHAN: after a child's exit the rest of its group is killed, and other processes live
on."""

from __future__ import annotations

import pytest

from boxspec.api import NotMeasured, expect, expect_within, requires
from boxspec.api import programs as P
from contracts.exec.answers import ObservedRun
from contracts.exec.client import ExecCase
from contracts.exec.moments import attempted, expect_none_left, pass_time, send, shell_ends, until
from contracts.exec.spawn_io import shell


def leave_orphan(case: ExecCase, *how: str, code: int = 0) -> ObservedRun:
    """Run a child that exits and leaves a background process. A run that lasts 8 s has hung."""
    return case.exec.run(
        program=P.orphan,
        args=[case.events().path, "--exit", str(code), *how],
        within_s=8,
        stdin="null",
    )


@requires("EXEC-ORPHAN-01", pitfalls=["I14"], overlap=0.5)
def test_the_end_of_an_adopted_member_does_not_end_the_run(case: ExecCase) -> None:
    # A subreaper gets a notification when an orphan of the group ends. Here this happens before the
    # child ends.
    events, first, last = case.events(), case.fifo("first"), case.fifo("last")
    line = '("$1" "$2" "$3" --exit 9 &); exec "$1" "$2" "$4" --exit 4'
    words = shell(line, P.gate, events.path, first, last)
    with case.exec.start(**words, state=["--subreaper"], within_s=10) as shim:
        gates = {events.wait("ready").pid for _ in range(2)}
        case.open_gate(first)
        ended = events.wait("end").pid
        until(lambda: all(not each.alive for each in shim.tree() if each.pid == ended))
        pass_time(2 * case.tick_ms)
        case.open_gate(last)
        seen = shim.finish()
    got = (ended in gates, seen.result["exit_code"])
    expect("whether the member ended first, and exit_code", got, (True, 4))


KEPT = ["out", "err", "out,err", "in,out,err"]


@pytest.mark.parametrize("kept", KEPT)
@requires("EXEC-ORPHAN-01", pitfalls=["I4"])
def test_an_orphan_with_the_pipes_does_not_change_the_childs_code(
    case: ExecCase, kept: str
) -> None:
    result = leave_orphan(case, "--keep", kept, code=3).result
    expect(
        "success and exit_code of the child", (result["success"], result["exit_code"]), (False, 3)
    )


@pytest.mark.parametrize("kept", KEPT)
@requires("EXEC-ORPHAN-01", pitfalls=["I4"])
def test_an_orphan_with_the_pipes_is_killed(case: ExecCase, kept: str) -> None:
    seen = leave_orphan(case, "--keep", kept)
    expect_none_left(seen, case.events(), orphan=1)


@pytest.mark.parametrize("kept", KEPT)
@requires("EXEC-ORPHAN-01", pitfalls=["I4", "E13"], overlap=0.3, timing=True)
def test_an_orphan_with_the_pipes_does_not_block_the_run(case: ExecCase, kept: str) -> None:
    seen = leave_orphan(case, "--keep", kept)
    end = case.events().wait("end").cause
    expect_within(case, "from the child's end to the shim's", end, seen.end, case.tick_ms)


@pytest.mark.parametrize("kept", ["out", "none"])
@requires("EXEC-ORPHAN-02", pitfalls=["I5"], overlap=0.3)
def test_an_orphan_that_ignores_signals_is_killed(case: ExecCase, kept: str) -> None:
    ignored = [word for name in ("TERM", "HUP", "INT") for word in ("--ignore", name)]
    seen = leave_orphan(case, "--keep", kept, *ignored)
    expect_none_left(seen, case.events(), orphan=1)


WITHOUT = {
    "redirected": ["--keep", "none"],
    "double_fork": ["--keep", "out,err", "--double"],
    "redirected_double_fork": ["--keep", "none", "--double"],
}


@pytest.mark.parametrize("how", WITHOUT)
@requires("EXEC-ORPHAN-03", pitfalls=["I6", "I7"])
def test_an_orphan_without_the_pipes_is_killed(case: ExecCase, how: str) -> None:
    seen = leave_orphan(case, *WITHOUT[how])
    expect_none_left(seen, case.events(), orphan=1)


@requires("EXEC-ORPHAN-03", pitfalls=["I6"])
def test_an_orphan_is_killed_after_a_death_by_signal_too(case: ExecCase) -> None:
    events = case.events()
    script = f'"{P.orphan}" "$0" --keep none; kill -KILL $$'
    seen = case.exec.run(program="/bin/sh", args=["-c", script, events.path], within_s=8)
    expect_none_left(seen, events, orphan=1)


AWAY = {
    "own_session": ["--setsid"],
    "own_group": ["--setpgid"],
    "daemon": ["--setsid", "--double"],
}


@pytest.mark.parametrize("how", AWAY)
@requires("EXEC-ORPHAN-04", pitfalls=["I8", "B8"])
def test_a_helper_that_left_the_group_lives_on(case: ExecCase, how: str) -> None:
    seen = leave_orphan(case, "--keep", "none", *AWAY[how])
    helper = case.events().wait("orphan").pid
    expect("whether the helper is alive", helper in {proc.pid for proc in seen.lasting}, True)


@pytest.mark.parametrize("how", AWAY)
@requires("EXEC-ORPHAN-04", pitfalls=["I8"], overlap=0.3)
def test_a_helper_that_left_the_group_is_sent_no_signal(case: ExecCase, how: str) -> None:
    events = case.events()
    args = [events.path, "--keep", "none", "--log", *AWAY[how]]
    with case.exec.start(program=P.orphan, args=args, stdin="null", hold=True, within_s=8) as shim:
        helper = events.wait("orphan").pid
        shim.wait_response()
        # The test itself sends a signal at the end. This shows that the helper would log other
        # signals too.
        send(helper, "USR1")
        events.wait("signal", pid=helper)
    logged = [event.rest[0] for event in events.all("signal", pid=helper)]
    expect("signals that the helper got, the test's own last", logged, ["USR1"])


@pytest.mark.parametrize("how", AWAY)
@requires("EXEC-ORPHAN-04", pitfalls=["I8"], overlap=0.3, timing=True)
def test_a_helper_that_left_the_group_does_not_block_the_run(case: ExecCase, how: str) -> None:
    seen = leave_orphan(case, "--keep", "none", *AWAY[how])
    end = case.events().wait("end").cause
    expect_within(case, "from the child's end to the shim's", end, seen.end, case.tick_ms)


@pytest.mark.parametrize("kept", ["out", "none"])
@requires("EXEC-ORPHAN-05", pitfalls=["G8"], overlap=0.3)
def test_a_stopped_orphan_is_killed(case: ExecCase, kept: str) -> None:
    # When the leader ends, its group is orphaned, and the kernel sends HUP and CONT to stopped
    # members. The orphan ignores HUP. So only SIGKILL can end it.
    seen = leave_orphan(case, "--keep", kept, "--stopped", "--ignore", "HUP")
    expect_none_left(seen, case.events(), orphan=1)


@requires("EXEC-ORPHAN-06", pitfalls=["I14"])
def test_a_caller_that_is_a_subreaper_collects_the_groups_orphans(case: ExecCase) -> None:
    args = [case.events().path, "--keep", "none", "--double"]
    with case.exec.start(program=P.orphan, args=args, state=["--subreaper"], hold=True) as shim:
        orphan = case.events().wait("orphan").pid
        shim.wait_response()
        children = [child.describe() for child in shim.children() if child.pid == orphan]
    expect("the orphan among the caller's children after the run", children, [])


@requires("EXEC-ORPHAN-06", pitfalls=["I14"])
def test_a_caller_that_is_a_subreaper_keeps_its_other_children(case: ExecCase) -> None:
    # A helper that has left the group becomes a child of the caller. So only the caller may reap
    # it.
    helper, gate = case.events("helper"), case.events("gate")
    fifo = case.fifo("open")
    script = f'"{P.orphan}" "$0" --setsid --keep none; exec "{P.gate}" "$1" "$2"'
    with case.exec.start(
        program="/bin/sh",
        args=["-c", script, helper.path, gate.path, str(fifo)],
        state=["--subreaper"],
        hold=True,
    ) as shim:
        other = helper.wait("orphan").pid
        gate.wait("ready")
        if not until(lambda: other in {child.pid for child in shim.children()}):
            raise NotMeasured("the kernel did not give the helper to the subreaper")
        send(other, "KILL")
        until(lambda: other not in {child.pid for child in shim.children() if child.alive})
        case.open_gate(fifo)
        shim.wait_response()
        zombies = [child.pid for child in shim.children() if child.state == "Z"]
    expect("zombie children that the run left to the caller", zombies, [other])


@requires("EXEC-ORPHAN-08")
def test_a_caller_that_is_no_subreaper_does_not_become_one(case: ExecCase) -> None:
    events = case.events()
    args = [events.path, "--keep", "none", "--setsid", "--double"]
    with case.exec.start(program=P.orphan, args=args, stdin="null", hold=True, within_s=8) as shim:
        helper = events.wait("orphan").pid
        shim.wait_response()
        children = [child.describe() for child in shim.children() if child.pid == helper]
    expect("the helper among the caller's children after the run", children, [])


# The child ends after its helper has written, while the helper still lives.
HELPED = (
    '("$1" "$2" "$3"; printf %s "$4"; : >"$5"; exec sleep 60) & '
    'while ! [ -e "$5" ]; do sleep 0.01; done; printf own; exit 7'
)


@pytest.mark.parametrize("size", [1, 4096, 30_000])
@requires("EXEC-DRAIN-11", needs=["EXEC-ORPHAN-01"])
def test_output_that_an_orphan_wrote_before_its_end_is_complete(case: ExecCase, size: int) -> None:
    events, fifo, mark = case.events(), case.fifo("gate"), case.tmp / "mark"
    words = (P.gate, events.path, fifo, "x" * size, mark)
    with case.exec.start(**shell(HELPED, *words), within_s=10) as shim:
        events.wait("ready")
        # The caller is stopped, so that the pipe still contains the output when the caller notices
        # the exit.
        shim.signal("STOP")
        case.open_gate(fifo)
        until(mark.exists)
        shell_ends(shim)
        shim.signal("CONT")
        seen = shim.finish()
    expect(
        "exit_code and stdout", (seen.result["exit_code"], seen.stdout), (7, b"x" * size + b"own")
    )


WRITERS: dict[str, tuple[list[str], bool]] = {
    "a helper with stdout": (["--keep", "out"], True),
    "a helper with stderr": (["--keep", "err"], True),
    "a stopped helper with stdout": (["--keep", "out", "--stopped"], True),
    "a helper with stdout that hides its descriptors": (["--keep", "out", "--hidden"], True),
    "a helper without the pipes": (["--keep", "none"], False),
    "a helper that hides its descriptors": (["--keep", "none", "--hidden"], False),
    "a process that left the group": (["--setsid", "--keep", "out"], False),
}


@pytest.mark.parametrize("who", WRITERS)
@requires("EXEC-ORPHAN-07", capability="exec.termination", needs=["EXEC-ORPHAN-01"])
def test_the_result_tells_that_a_writer_was_killed(case: ExecCase, who: str) -> None:
    words, wanted = WRITERS[who]
    seen = leave_orphan(case, *words, code=7)
    attempted(case.events(), orphan=1)
    got = (seen.result["exit_code"], seen.result.get("killed_writers"))
    expect("exit_code and killed_writers", got, (7, wanted))


@requires("EXEC-ORPHAN-07", capability="exec.termination")
def test_without_a_helper_no_writer_was_killed(case: ExecCase) -> None:
    seen = case.exec.run(program=P.emit, args=["--out", "78", "--err", "79"])
    got = (seen.result["exit_code"], seen.result.get("killed_writers"))
    expect("exit_code and killed_writers", got, (0, False))
