"""EXEC-STDIN: payloads that the child does not read."""

from __future__ import annotations

import sys
from typing import Unpack

import pytest

from boxspec.api import AnswerText, Blocked, expect, expect_within, requires
from boxspec.api import programs as P
from contracts.exec.answers import ObservedRun
from contracts.exec.client import ExecCase, RunOptions
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
from contracts.shared.requests import Command, ExecRequest

# Much more than a pipe holds.
LARGE = b"x" * 2**20


def error_kind(seen: ObservedRun) -> str:
    """Return the kind of the error. If the run has a result, return how the child ended."""
    error = error_of(seen)
    return AnswerText(error["kind"], seen) if error else outcome(seen)


@requires("EXEC-STDIN-06", pitfalls=["F12", "F7"])
def test_a_failed_write_is_an_execution_error_without_output(case: ExecCase) -> None:
    line = 'echo captured; exec "$1" "$2" --in'
    seen = case.exec.run(**shell(line, P.close_early, case.events().path), stdin=LARGE)
    output = {"result", "stdout", "stderr"} & (set(seen.raw or {}) | set(error_of(seen)))
    expect(
        "kind of the error, and fields with output",
        (error_kind(seen), output),
        ("execution", set()),
    )


@requires("EXEC-STDIN-06", pitfalls=["F12"])
def test_the_same_program_without_a_payload_has_its_result(case: ExecCase) -> None:
    line = 'echo captured; exec "$1" "$2" --in --then exit:0'
    request = shell(line, P.close_early, case.events().path)
    failed, fine = case.exec.run(**request, stdin=LARGE), case.exec.run(**request, stdin="null")
    expect(
        "a run with a payload larger than the pipe, and a run without a payload",
        (error_kind(failed), outcome(fine), fine.stdout),
        ("execution", "exit 0", b"captured\n"),
    )


@requires("EXEC-STDIN-07", pitfalls=["F6"])
def test_a_failed_write_ends_a_child_that_would_run_on(case: ExecCase) -> None:
    args = [case.events().path, "--in"]
    seen = case.exec.run(program=P.close_early, args=args, stdin=LARGE, within_s=20)
    expect_none_left(seen, case.events(), closing=1)


@requires("EXEC-STDIN-07", pitfalls=["F6"])
def test_a_failed_write_ends_the_child_as_a_deadline_would(case: ExecCase) -> None:
    # The trap is set before stdin is closed. So it runs at the SIGTERM that follows a failed write.
    line = "trap 'echo TERM >\"$0\"; exit 0' TERM; exec <&-; while :; do sleep 0.05; done"

    def trace(name: str, **run: Unpack[RunOptions]) -> bool:
        place = case.tmp / name
        writes: RunOptions = {"program": SH, "args": ["-c", line, str(place)], "within_s": 20}
        case.exec.run(**(writes | run))
        return place.exists()

    if not trace("deadline", timeout_ms=200):
        raise blocked_or_late(case, ["EXEC-KILL-01"], "a deadline does not begin with SIGTERM")
    expect("whether the child got a SIGTERM that it could handle", trace("w", stdin=LARGE), True)


def with_a_member(case: ExecCase, *rules: str, **run: Unpack[RunOptions]) -> ObservedRun:
    """Run a child to which the write fails.

    Its group has another member, which does not hold the pipe.
    """
    events, fifo = case.events(), case.fifo("gate")
    # `read` ends when the gate opens. Then the shell executes a program that closes its stdin.
    line = '"$1" "$2" $4 </dev/null & read x <"$5"; exec "$3" "$2" --in'
    words = (P.siglog, events.path, P.close_early, " ".join(rules), str(fifo))
    fails: RunOptions = {"program": SH, "args": ["-c", line, "sh", *words]}
    fails |= {"stdin": LARGE, "within_s": 20}
    with case.exec.start(**(fails | run)) as shim:
        events.wait("ready")
        case.open_gate(fifo)
        return shim.finish()


@requires("EXEC-STDIN-07", pitfalls=["F6", "B5"], overlap=0.5)
def test_a_failed_write_signals_each_member_of_the_group(case: ExecCase) -> None:
    with_a_member(case, "--on", "TERM:exit:0")
    logged = [event.rest[0] for event in case.events().all("signal")]
    expect("SIGTERM among the signals that a member logged", "TERM" in logged, True)


@requires("EXEC-STDIN-07", pitfalls=["F6", "G4"], overlap=4.5)
def test_after_a_failed_write_a_member_has_the_grace(case: ExecCase) -> None:
    with_a_member(case, "--on", f"TERM:exit:0:{case.grace_ms * 7 // 10}")
    expect("members that ended without being killed", len(case.events().all("end")), 1)


@requires("EXEC-STDIN-07", pitfalls=["F6", "G4"], overlap=6.5)
def test_a_failed_write_ends_a_member_that_ignores_sigterm(case: ExecCase) -> None:
    seen = with_a_member(case, "--ignore", "TERM")
    expect_none_left(seen, case.events(), ready=1)


@requires("EXEC-STDIN-06", overlap=4.5)
def test_a_deadline_after_a_failed_write_does_not_change_the_error(case: ExecCase) -> None:
    # The first cause of the end decides the result. The deadline comes later, during the grace
    # period.
    limit_ms = case.grace_ms // 2
    seen = with_a_member(case, "--on", f"TERM:exit:0:{limit_ms + 500}", timeout_ms=limit_ms)
    expect("kind of the error", error_kind(seen), "execution")


@requires("EXEC-STDIN-06", overlap=1.0)
def test_a_signal_after_a_failed_write_does_not_change_the_error(case: ExecCase) -> None:
    events, fifo = case.events(), case.fifo("gate")
    line = '"$1" "$2" --on USR1:exit:0 </dev/null & read x <"$4"; exec "$3" "$2" --in'
    words = (P.siglog, events.path, P.close_early, fifo)
    with case.exec.start(**shell(line, *words), stdin=LARGE, within_s=20) as shim:
        member = events.wait("ready").pid
        case.open_gate(fifo)
        if not until(lambda: bool(events.all("signal")), 4):
            why = "a failed write does not begin with SIGTERM: there is no grace to be in"
            raise blocked_or_late(case, ["EXEC-STDIN-07"], why)
        shim.signal("INT")
        pass_time(2 * case.tick_ms)
        send(member, "USR1")
        seen = shim.finish()
    expect("kind of the error", error_kind(seen), "execution")


@requires("EXEC-STDIN-08", pitfalls=["F7", "F9"], overlap=True)
@pytest.mark.parametrize("taken", [0, 1, 70_000])
def test_a_payload_that_an_escapee_could_still_read_is_a_failure(
    case: ExecCase, taken: int
) -> None:
    # A process outside the group holds the read end. So no write fails, although the child has
    # ended without reading the rest.
    events = case.events()
    line = 'head -c "$1" >/dev/null; exec "$2" "$3" --keep in --setsid'
    seen = case.exec.run(**shell(line, taken, P.orphan, events.path), stdin=LARGE, within_s=20)
    attempted(events, orphan=1)
    expect("kind of the error", error_kind(seen), "execution")


@requires("EXEC-STDIN-08", pitfalls=["F7", "F4"])
@pytest.mark.parametrize("taken", [0, 1, 65_536])
def test_a_payload_that_was_not_fully_taken_is_a_failure(case: ExecCase, taken: int) -> None:
    request: Command = {"program": P.read_some, "args": [str(taken)]}
    failed, fine = (
        case.exec.run(**request, stdin=LARGE),
        case.exec.run(**request, stdin=LARGE[:taken] or "null"),
    )
    expect(
        f"a child that reads {taken} bytes of 1 MiB, and a child that reads its whole payload",
        (error_kind(failed), outcome(fine)),
        ("execution", "exit 0"),
    )


ROOM = "import fcntl; print(fcntl.fcntl(0, fcntl.F_GETPIPE_SZ))"


@requires("EXEC-STDIN-08", needs=["EXEC-CHILD-03"], overlap=True)
def test_one_byte_that_was_not_written_is_a_failure(case: ExecCase) -> None:
    """Leave one byte unwritten.

    A process outside the group holds the read end, so no write fails.
    """
    tells: Command = {"program": sys.executable, "args": ["-I", "-S", "-c", ROOM]}
    room = case.exec.run(**tells, stdin=b"x", within_s=20).stdout.strip()
    if not room.isdigit():
        raise Blocked(["EXEC-CHILD-03"], "stdin is not a pipe")
    events, line = case.events(), 'exec "$1" "$2" --keep in --setsid'
    payload = b"x" * (int(room) + 1)
    seen = case.exec.run(**shell(line, P.orphan, events.path), stdin=payload, within_s=20)
    attempted(events, orphan=1)
    expect("kind of the error", error_kind(seen), "execution")


@requires("EXEC-STDIN-08", pitfalls=["F4"])
def test_a_child_that_never_reads_and_ends_by_itself_is_a_failure(case: ExecCase) -> None:
    events, fifo = case.events(), case.fifo("gate")
    args = [events.path, "--exit-on-fifo", str(fifo)]
    with case.exec.start(program=P.never_read, args=args, stdin=LARGE, within_s=15) as shim:
        events.wait("ready")
        case.open_gate(fifo)
        seen = shim.finish()
    expect("kind of the error", error_kind(seen), "execution")


@requires("EXEC-STDIN-09", pitfalls=["F8"])
@pytest.mark.parametrize("flag", ["--default", "--ignore"])
def test_a_closed_pipe_does_not_kill_the_caller_nor_change_sigpipe(
    case: ExecCase, flag: str
) -> None:
    def after(**run: Unpack[RunOptions]) -> tuple[bool, bool, bool]:
        reads: RunOptions = {"program": P.read_some, "args": ["1"], "state": [flag, "PIPE"]}
        with case.exec.start(**(reads | run | {"hold": True})) as shim:
            shim.wait_response()
            status = shim.at_rest()
            return shim.running, 13 in status.mask("SigIgn"), 13 in status.mask("SigCgt")

    expect(
        "whether the caller lives, ignores SIGPIPE, catches SIGPIPE after a failed write",
        after(stdin=LARGE),
        after(stdin="null"),
    )


@requires("EXEC-STDIN-09", pitfalls=["F8"])
def test_a_failed_write_does_not_change_how_sigpipe_is_handled(case: ExecCase) -> None:
    # Compare with an idle shim, because a runtime may ignore SIGPIPE from its start on.
    with case.idle() as idle:
        before = {name: idle.mask(name) for name in ("SigIgn", "SigCgt")}
    with case.exec.start(program=P.read_some, args=["1"], stdin=LARGE, hold=True) as shim:
        shim.wait_response()
        after = shim.at_rest()
    changed = [name for name in before if 13 in after.mask(name) and 13 not in before[name]]
    expect("how SIGPIPE is handled after a failed write and not before", changed, [])


@requires("EXEC-STDIN-10", pitfalls=["F5", "F3"], overlap=True)
@pytest.mark.parametrize("taken", [0, 4096, 70_000])
def test_the_deadline_holds_while_the_payload_is_not_read(case: ExecCase, taken: int) -> None:
    events = case.events()
    line = 'head -c "$1" >/dev/null; exec "$2" "$3"'
    words = (taken, P.never_read, events.path)
    # The child never ends by itself, so without a working deadline the run does not return.
    seen = case.exec.run(**shell(line, *words), stdin=LARGE, timeout_ms=400, within_s=15)
    got = error_of(seen), seen.result["success"]
    expect("the error of the run, and `success`", got, ({}, False))


# The command reads a small part every 0.1 s for 3 s, and then exits with 0.
TRICKLE = "i=0; while [ $i -lt 30 ]; do head -c 4096 >/dev/null; sleep 0.1; i=$((i + 1)); done"


@requires("EXEC-STDIN-10", pitfalls=["F5"], overlap=1.5)
def test_a_payload_that_is_read_slowly_does_not_move_the_deadline(case: ExecCase) -> None:
    payload = b"x" * (65536 + 30 * 4096)
    seen = case.exec.run(**shell(f"{TRICKLE}; cat >/dev/null"), stdin=payload, timeout_ms=1200)
    got = (outcome(seen), seen.stderr.endswith(b"process timed out"))
    expect("how the child ended, and whether the deadline caused it", got, ("no exit code", True))


# The command reads the whole payload after 0.8 s, and exits with 0 after one more second.
LATE = "sleep 0.8; cat >/dev/null; sleep 1"


@requires("EXEC-STDIN-10", pitfalls=["F5"], overlap=1.5)
def test_a_payload_that_is_read_late_does_not_move_the_deadline(case: ExecCase) -> None:
    seen = case.exec.run(**shell(LATE), stdin=LARGE, timeout_ms=1200)
    got = (outcome(seen), seen.stderr.endswith(b"process timed out"))
    expect("how the child ended, and whether the deadline caused it", got, ("no exit code", True))


@requires("EXEC-STDIN-10", pitfalls=["F5"], capability="exec.stdin_failure", overlap=True)
def test_the_deadline_holds_for_a_payload_that_may_fail_too(case: ExecCase) -> None:
    events = case.events()
    request: ExecRequest = {"program": P.never_read, "args": [events.path], "stdin": LARGE}
    seen = case.exec.run(**(request | {"stdin_failure": "ignore", "timeout_ms": 400}), within_s=15)
    got = (seen.result["success"], seen.result["exit_code"])
    expect("success, exit_code", got, (False, None))


@requires("EXEC-STDIN-11", pitfalls=["F9"], overlap=True, timing=True)
def test_a_background_process_that_holds_stdin_does_not_block_the_run(case: ExecCase) -> None:
    expect_return_from(case, "in")


@requires("EXEC-STDIN-11", pitfalls=["F9"], overlap=True, timing=True, needs=["EXEC-DRAIN-08"])
def test_a_background_process_that_holds_all_streams_does_not_block_the_run(case: ExecCase) -> None:
    expect_return_from(case, "in,out,err")


@requires(
    "EXEC-STDIN-11",
    pitfalls=["F9"],
    capability="exec.stdin_failure",
    overlap=True,
    timing=True,
)
def test_a_background_process_that_holds_stdin_does_not_block_a_run_with_ignore(
    case: ExecCase,
) -> None:
    expect_return_from(case, "in", stdin_failure="ignore")


def expect_return_from(case: ExecCase, streams: str, **more: Unpack[RunOptions]) -> None:
    """Expect that the run returns in time although a background process holds these `streams`.

    No process reads the payload of the run.
    """
    events = case.events()
    args = [events.path, "--keep", streams, "--setsid"]
    holds: RunOptions = {"program": P.orphan, "args": args, "stdin": LARGE, "within_s": 20}
    with case.exec.start(**(holds | more)) as shim:
        end = events.wait("end").cause
        seen = shim.finish()
    limit_ms = LINGER_MS + case.tick_ms
    expect_within(case, "from the leader's end to the return", end, seen.end, limit_ms)


@requires("EXEC-STDIN-13", capability="exec.stdin_failure")
@pytest.mark.parametrize("code", [0, 3])
def test_with_ignore_a_failed_write_keeps_the_childs_own_end(case: ExecCase, code: int) -> None:
    line = 'echo captured; exec "$1" 1 --exit "$2"'
    request = shell(line, P.read_some, code)
    kept = case.exec.run(**request, stdin=LARGE, stdin_failure="ignore")
    strict = case.exec.run(**request, stdin=LARGE, stdin_failure="error")
    expect(
        "outcome and output of the run with `ignore`, and error of the run with `error`",
        (outcome(kept), kept.stdout, error_kind(strict)),
        (f"exit {code}", b"captured\n", "execution"),
    )


@requires("EXEC-STDIN-13", capability="exec.stdin_failure")
def test_with_ignore_a_child_that_closed_stdin_lives_to_its_own_end(case: ExecCase) -> None:
    events, fifo = case.events(), case.fifo("gate")
    line = 'exec <&-; exec "$1" "$2" "$3" --exit 5'
    request = shell(line, P.gate, events.path, fifo)
    with case.exec.start(**request, stdin=LARGE, stdin_failure="ignore") as shim:
        events.wait("ready")
        case.open_gate(fifo)
        seen = shim.finish()
    expect("how the child ended", outcome(seen), "exit 5")
