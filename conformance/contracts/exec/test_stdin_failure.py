"""EXEC-STDIN: payloads that are not taken."""

from __future__ import annotations

import pytest

from boxspec.api import Box, Told, expect, expect_within, requires
from boxspec.api import programs as P
from contracts.exec.answers import ObservedRun
from contracts.exec.moments import (
    LINGER_MS,
    attempted,
    blocked_or_late,
    expect_none_left,
    pass_time,
    send,
    until,
)
from contracts.exec.spawn_io import SH, error_of, outcome, shell

# Well above what a pipe takes without a reader.
LARGE = b"x" * 2**20


def error_kind(seen: ObservedRun) -> str:
    """`execution` for an execution error; the child's own end where a result came instead."""
    error = error_of(seen)
    return Told(error["kind"], seen) if error else outcome(seen)


@requires("EXEC-STDIN-06", pitfalls=["F12", "F7"])
def test_a_failed_write_is_an_execution_error_without_output(box: Box) -> None:
    line = 'echo captured; exec "$1" "$2" --in'
    seen = box.exec.run(**shell(line, P.close_early, box.events().path), stdin=LARGE)
    told = {"result", "stdout", "stderr"} & (set(seen.raw or {}) | set(error_of(seen)))
    expect("kind, and what is told of the output", (error_kind(seen), told), ("execution", set()))


@requires("EXEC-STDIN-06", pitfalls=["F12"])
def test_the_same_program_without_a_payload_has_its_result(box: Box) -> None:
    line = 'echo captured; exec "$1" "$2" --in --then exit:0'
    request = shell(line, P.close_early, box.events().path)
    failed, fine = box.exec.run(**request, stdin=LARGE), box.exec.run(**request, stdin="null")
    expect(
        "with a payload above the pipe's capacity, and without",
        (error_kind(failed), outcome(fine), fine.stdout),
        ("execution", "exit 0", b"captured\n"),
    )


@requires("EXEC-STDIN-07", pitfalls=["F6"])
def test_a_failed_write_ends_a_child_that_would_run_on(box: Box) -> None:
    args = [box.events().path, "--in"]
    seen = box.exec.run(program=P.close_early, args=args, stdin=LARGE, within_s=20)
    expect_none_left(seen, box.events(), closing=1)


@requires("EXEC-STDIN-07", pitfalls=["F6"])
def test_a_failed_write_ends_the_child_as_a_deadline_would(box: Box) -> None:
    # The trap is set before stdin is closed: from then on a first SIGTERM leaves its trace.
    line = "trap 'echo TERM >\"$0\"; exit 0' TERM; exec <&-; while :; do sleep 0.05; done"

    def trace(name: str, **run: object) -> bool:
        place = box.tmp / name
        box.exec.run(program=SH, args=["-c", line, str(place)], within_s=20, **run)
        return place.exists()

    if not trace("deadline", timeout_ms=200):
        raise blocked_or_late(box, ["EXEC-KILL-01"], "a deadline does not begin with SIGTERM")
    expect("whether the child got a SIGTERM that it could handle", trace("w", stdin=LARGE), True)


def with_a_member(box: Box, *rules: str, **run: object) -> ObservedRun:
    """A failed write to a child that has somebody in its group, who does not hold the pipe."""
    events, fifo = box.events(), box.fifo("gate")
    # `read` ends with the fifo; the shell goes on as a program that closes its stdin.
    line = '"$1" "$2" $4 </dev/null & read x <"$5"; exec "$3" "$2" --in'
    words = (P.siglog, events.path, P.close_early, " ".join(rules), fifo)
    with box.exec.start(**shell(line, *words), stdin=LARGE, within_s=20, **run) as live:
        events.wait("ready")
        box.open_gate(fifo)
        return live.finish()


@requires("EXEC-STDIN-07", pitfalls=["F6", "B5"], overlap=0.5)
def test_a_failed_write_signals_each_member_of_the_group(box: Box) -> None:
    with_a_member(box, "--on", "TERM:exit:0")
    heard = [event.rest[0] for event in box.events().all("signal")]
    expect("SIGTERM among the signals that a member logged", "TERM" in heard, True)


@requires("EXEC-STDIN-07", pitfalls=["F6", "G4"], overlap=4.5)
def test_after_a_failed_write_a_member_has_the_grace(box: Box) -> None:
    with_a_member(box, "--on", f"TERM:exit:0:{box.grace_ms * 7 // 10}")
    expect("members that ended by themselves", len(box.events().all("end")), 1)


@requires("EXEC-STDIN-07", pitfalls=["F6", "G4"], overlap=6.5)
def test_a_failed_write_ends_a_member_that_ignores_sigterm(box: Box) -> None:
    seen = with_a_member(box, "--ignore", "TERM")
    expect_none_left(seen, box.events(), ready=1)


@requires("EXEC-STDIN-06", overlap=4.5)
def test_a_deadline_behind_a_failed_write_leaves_the_error(box: Box) -> None:
    # What ends a run first names it: the deadline comes while its group has its grace.
    limit_ms = box.grace_ms // 2
    seen = with_a_member(box, "--on", f"TERM:exit:0:{limit_ms + 500}", timeout_ms=limit_ms)
    expect("kind of the error", error_kind(seen), "execution")


@requires("EXEC-STDIN-06", overlap=1.0)
def test_a_signal_behind_a_failed_write_leaves_the_error(box: Box) -> None:
    events, fifo = box.events(), box.fifo("gate")
    line = '"$1" "$2" --on USR1:exit:0 </dev/null & read x <"$4"; exec "$3" "$2" --in'
    words = (P.siglog, events.path, P.close_early, fifo)
    with box.exec.start(**shell(line, *words), stdin=LARGE, within_s=20) as live:
        member = events.wait("ready").pid
        box.open_gate(fifo)
        if not until(lambda: bool(events.all("signal")), 4):
            why = "a failed write does not begin with SIGTERM: there is no grace to be in"
            raise blocked_or_late(box, ["EXEC-STDIN-07"], why)
        live.signal("INT")
        pass_time(2 * box.tick_ms)
        send(member, "USR1")
        seen = live.finish()
    expect("kind of the error", error_kind(seen), "execution")


@requires("EXEC-STDIN-08", pitfalls=["F7", "F9"], overlap=True)
@pytest.mark.parametrize("taken", [0, 1, 70_000])
def test_a_payload_that_an_escapee_could_still_read_is_a_failure(box: Box, taken: int) -> None:
    # It has the reading end, so that no write is refused; the child has gone without the rest.
    events = box.events()
    line = 'head -c "$1" >/dev/null; exec "$2" "$3" --keep in --setsid'
    seen = box.exec.run(**shell(line, taken, P.orphan, events.path), stdin=LARGE, within_s=20)
    attempted(events, orphan=1)
    expect("kind of the error", error_kind(seen), "execution")


@requires("EXEC-STDIN-08", pitfalls=["F7", "F4"])
@pytest.mark.parametrize("taken", [0, 1, 65_536])
def test_a_payload_that_was_not_fully_taken_is_a_failure(box: Box, taken: int) -> None:
    request = {"program": P.read_some, "args": [str(taken)]}
    failed, fine = (
        box.exec.run(**request, stdin=LARGE),
        box.exec.run(**request, stdin=LARGE[:taken] or "null"),
    )
    expect(
        f"a child that takes {taken} of a MiB, and one that takes all it is given",
        (error_kind(failed), outcome(fine)),
        ("execution", "exit 0"),
    )


@requires("EXEC-STDIN-08", pitfalls=["F4"])
def test_a_child_that_never_reads_and_ends_by_itself_is_a_failure(box: Box) -> None:
    events, fifo = box.events(), box.fifo("gate")
    args = [events.path, "--exit-on-fifo", str(fifo)]
    with box.exec.start(program=P.never_read, args=args, stdin=LARGE, within_s=15) as live:
        events.wait("ready")
        box.open_gate(fifo)
        seen = live.finish()
    expect("kind of the error", error_kind(seen), "execution")


@requires("EXEC-STDIN-09", pitfalls=["F8"])
@pytest.mark.parametrize("flag", ["--default", "--ignore"])
def test_a_closed_pipe_does_not_kill_the_caller_nor_change_sigpipe(box: Box, flag: str) -> None:
    def after(**run: object) -> tuple[bool, bool, bool]:
        with box.exec.start(
            program=P.read_some, args=["1"], state=[flag, "PIPE"], hold=True, **run
        ) as live:
            live.wait_response()
            status = live.status()
            return (live.running, *(13 in status.mask(name) for name in ("SigIgn", "SigCgt")))

    expect(
        "alive, SIGPIPE ignored, SIGPIPE caught: after a failed write, as after a run without",
        after(stdin=LARGE),
        after(stdin="null"),
    )


@requires("EXEC-STDIN-09", pitfalls=["F8"])
def test_sigpipe_is_left_as_in_a_caller_that_ran_nothing(box: Box) -> None:
    # A run-time may ignore SIGPIPE from its start: then it does so when it is idle, too.
    with box.idle() as idle:
        before = {name: idle.mask(name) for name in ("SigIgn", "SigCgt")}
    with box.exec.start(program=P.read_some, args=["1"], stdin=LARGE, hold=True) as live:
        live.wait_response()
        after = live.status()
    changed = [name for name in before if 13 in after.mask(name) and 13 not in before[name]]
    expect("ways in which SIGPIPE is handled since a failed write", changed, [])


@requires("EXEC-STDIN-10", pitfalls=["F5", "F3"], overlap=True)
@pytest.mark.parametrize("taken", [0, 4096, 70_000])
def test_the_deadline_holds_while_the_payload_is_not_read(box: Box, taken: int) -> None:
    events = box.events()
    line = 'head -c "$1" >/dev/null; exec "$2" "$3"'
    words = (taken, P.never_read, events.path)
    # A child that never ends: a deadline that does not hold is a run that does not return.
    seen = box.exec.run(**shell(line, *words), stdin=LARGE, timeout_ms=400, within_s=15)
    expect("the error, and success", (error_of(seen), seen.result["success"]), ({}, False))


@requires("EXEC-STDIN-10", pitfalls=["F5"], capability="exec.stdin_failure", overlap=True)
def test_the_deadline_holds_for_a_payload_that_may_fail_too(box: Box) -> None:
    events = box.events()
    request = {"program": P.never_read, "args": [events.path], "stdin": LARGE}
    seen = box.exec.run(**request, stdin_failure="ignore", timeout_ms=400, within_s=15)
    got = (seen.result["success"], seen.result["exit_code"])
    expect("success, exit_code", got, (False, None))


@requires("EXEC-STDIN-11", pitfalls=["F9"], overlap=True, timing=True)
def test_a_background_process_that_holds_stdin_does_not_keep_the_run(box: Box) -> None:
    expect_return_from(box, "in")


@requires("EXEC-STDIN-11", pitfalls=["F9"], overlap=True, timing=True, needs=["EXEC-DRAIN-08"])
def test_one_that_holds_the_output_too_does_not_keep_the_run(box: Box) -> None:
    expect_return_from(box, "in,out,err")


@requires(
    "EXEC-STDIN-11",
    pitfalls=["F9"],
    capability="exec.stdin_failure",
    overlap=True,
    timing=True,
)
def test_one_that_holds_stdin_does_not_keep_a_run_whose_payload_may_fail(box: Box) -> None:
    expect_return_from(box, "in", stdin_failure="ignore")


def expect_return_from(box: Box, streams: str, **more: object) -> None:
    """`streams`: what a background process holds of a run whose payload nobody reads."""
    events = box.events()
    args = [events.path, "--keep", streams, "--setsid"]
    request = {"program": P.orphan, "args": args, "stdin": LARGE, **more}
    with box.exec.start(**request, within_s=20) as live:
        end = events.wait("end").cause
        seen = live.finish()
    limit_ms = LINGER_MS + box.tick_ms
    expect_within(box, "from the leader's end to the return", end, seen.end, limit_ms)


@requires("EXEC-STDIN-13", capability="exec.stdin_failure")
@pytest.mark.parametrize("code", [0, 3])
def test_with_ignore_a_failed_write_keeps_the_childs_own_end(box: Box, code: int) -> None:
    line = 'echo captured; exec "$1" 1 --exit "$2"'
    request = shell(line, P.read_some, code)
    kept = box.exec.run(**request, stdin=LARGE, stdin_failure="ignore")
    strict = box.exec.run(**request, stdin=LARGE, stdin_failure="error")
    expect(
        "with ignore, its output, and with error",
        (outcome(kept), kept.stdout, error_kind(strict)),
        (f"exit {code}", b"captured\n", "execution"),
    )


@requires("EXEC-STDIN-13", capability="exec.stdin_failure")
def test_with_ignore_a_child_that_closed_stdin_lives_to_its_own_end(box: Box) -> None:
    events, fifo = box.events(), box.fifo("gate")
    line = 'exec <&-; exec "$1" "$2" "$3" --exit 5'
    request = shell(line, P.gate, events.path, fifo)
    with box.exec.start(**request, stdin=LARGE, stdin_failure="ignore") as live:
        events.wait("ready")
        box.open_gate(fifo)
        seen = live.finish()
    expect("the child's end", outcome(seen), "exit 5")
