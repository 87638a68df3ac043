"""debug and the terminal: one that blocks, one that is closed, one whose flags are its own."""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from boxspec.api import Box, HostLacks, expect, expect_no_longer, expect_within, requires
from boxspec.api import programs as P
from boxspec.subject.observe.lines import poll
from contracts.exec.answers import ObservedRun
from contracts.exec.spawn_io import of_another_user, outcome

HERE = "exec.debug"
MUCH = 300_000
# Output is copied while the child runs.
COPY_S = 10


@contextmanager
def blocked_terminal() -> Iterator[int]:
    """The write end of a pipe that is full and that nobody reads."""
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(theirs, False)
    try:
        with open(theirs, "wb", buffering=0, closefd=False) as pipe:
            for size in (4096, 1):
                while pipe.write(b"." * size):
                    pass
        # The flag belongs to the pipe's end, which the shim shares.
        os.set_blocking(theirs, True)
        yield theirs
    finally:
        os.close(ours)
        os.close(theirs)


@contextmanager
def unread_terminal() -> Iterator[int]:
    """The write end of a pipe that nobody reads: room for many a write, and at last for a part."""
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    try:
        os.write(theirs, b".")
        yield theirs
    finally:
        os.close(ours)
        os.close(theirs)


@contextmanager
def closed_terminal() -> Iterator[int]:
    """The write end of a pipe whose reader has gone."""
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    os.close(ours)
    try:
        yield theirs
    finally:
        os.close(theirs)


def flood(box: Box, stderr: int | str, **more: object) -> ObservedRun:
    """A debug run that writes more than any pipe takes."""
    return box.exec.run(
        program=P.flood, args=[str(MUCH), str(MUCH)], debug=True, shim_stderr=stderr, **more
    )


@requires("EXEC-DEBUG-06", pitfalls=["E18"], capability=HERE, overlap=0.5)
def test_a_terminal_that_blocks_does_not_stop_the_capture(box: Box) -> None:
    with blocked_terminal() as stderr:
        seen = flood(box, stderr, within_s=8)
    expect(
        "exit_code and captured bytes",
        (seen.result["exit_code"], seen.stdout_len, seen.stderr_len),
        (0, MUCH, MUCH),
    )


@requires("EXEC-DEBUG-06", pitfalls=["E18"], capability=HERE, overlap=0.8, timing=True)
def test_a_terminal_that_blocks_delays_the_return_by_at_most_100_ms(box: Box) -> None:
    # `sh` goes on after the flood, so that its own end can be told from the flood's.
    events = box.events()
    script = f'"{P.flood}" {MUCH} 0; exec "{P.slow_exit}" "$0" 50'
    with blocked_terminal() as stderr:
        seen = box.exec.run(
            program="/bin/sh",
            args=["-c", script, events.path],
            debug=True,
            shim_stderr=stderr,
            within_s=8,
        )
    end = events.wait("end").cause
    expect_within(box, "from the child's end to the shim's", end, seen.end, 100 + box.tick_ms)


@requires("EXEC-DEBUG-06", pitfalls=["E18"], capability=HERE, overlap=1.5, timing=True)
def test_a_terminal_that_blocks_does_not_stop_the_deadline(box: Box) -> None:
    # Compared with a terminal that takes all: how well deadlines work is not the question.
    script = f'"{P.flood}" {MUCH} 0; exec "{P.slow_exit}" /dev/null 4000'
    request = {"program": "/bin/sh", "args": ["-c", script], "debug": True, "timeout_ms": 300}
    control = box.exec.run(**request, shim_stderr="null", within_s=10)
    with blocked_terminal() as stderr:
        seen = box.exec.run(**request, shim_stderr=stderr, within_s=10)
    what = "how much longer the run takes with a terminal that blocks"
    expect_no_longer(box, what, seen, control, 100 + box.tick_ms)


@requires("EXEC-DEBUG-07", pitfalls=["E19"], capability=HERE)
def test_a_terminal_that_is_closed_harms_neither_caller_nor_capture(box: Box) -> None:
    with closed_terminal() as stderr:
        seen = flood(box, stderr, within_s=8)
    expect(
        "the shim's end, exit_code and captured bytes",
        (seen.shim_exit, seen.result["exit_code"], seen.stdout_len, seen.stderr_len),
        (("exited", 0), 0, MUCH, MUCH),
    )


# A caller whose stderr is a pipe of root's, as behind `sudo -u`: it may write there, and may not
# open it anew.
SOMEBODY_ELSE = ("--uid", "54331")


def need_root() -> None:
    if os.geteuid() != 0:
        raise HostLacks("root", "a pipe of another user needs root")


def as_somebody_else(box: Box, script: str, stderr: int) -> ObservedRun:
    """A debug run of such a caller."""
    need_root()
    seen: ObservedRun = box.exec.run(
        program="/bin/sh",
        args=["-c", script],
        debug=True,
        shim_stderr=stderr,
        state=SOMEBODY_ELSE,
        within_s=8,
        expect_result=False,
    )
    return of_another_user(seen)


@requires("EXEC-DEBUG-01", capability=HERE)
def test_a_terminal_that_may_not_be_opened_anew_gets_the_copy(box: Box) -> None:
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    try:
        seen = as_somebody_else(box, "echo copied", theirs)
        copied = os.read(ours, 1000) if poll([ours], 0) else b""
    finally:
        os.close(ours)
        os.close(theirs)
    got = (outcome(seen), seen.stdout, b"copied\n" in copied)
    expect(
        "the child's end, the capture, and whether it was copied",
        got,
        ("exit 0", b"copied\n", True),
    )


@requires("EXEC-DEBUG-06", capability=HERE, overlap=0.5)
def test_one_that_blocks_and_may_not_be_opened_anew_does_not_stop_the_capture(box: Box) -> None:
    with unread_terminal() as stderr:
        seen = as_somebody_else(box, f"head -c {MUCH} /dev/zero", stderr)
    expect("the child's end and captured bytes", (outcome(seen), seen.stdout_len), ("exit 0", MUCH))


def what_is_open(pid: int, fd: int) -> str:
    """What this descriptor of a process is, as /proc says it."""
    try:
        return str(Path(f"/proc/{pid}/fd/{fd}").readlink())
    except OSError:
        return "nothing"


@requires("EXEC-DEBUG-07", pitfalls=["E19"], capability=HERE)
def test_a_terminal_that_is_closed_stays_the_callers(box: Box) -> None:
    # A socket is not opened anew: what gives the copy up has the caller's own descriptor in hand.
    ours, theirs = socket.socketpair()
    with theirs:
        ours.close()
        with box.exec.start(
            program=P.flood,
            args=["100", "0"],
            debug=True,
            shim_stderr=theirs.fileno(),
            hold=True,
            within_s=8,
        ) as live:
            live.wait_response()
            # Where it was closed, what was opened next has its number.
            open_there = what_is_open(live.shim_pid, 2)
            seen = live.finish()
        wanted = what_is_open(os.getpid(), theirs.fileno())
    got = (outcome(seen), seen.stdout_len, open_there)
    expect("the child's end, captured bytes, and the caller's 2", got, ("exit 0", 100, wanted))


@requires("EXEC-DEBUG-07", pitfalls=["E19"], capability=HERE)
def test_a_caller_without_stderr_captures_all_the_same(box: Box) -> None:
    seen = box.exec.run(
        program=P.flood,
        args=[str(MUCH), str(MUCH)],
        debug=True,
        state=["--close", "2"],
        within_s=8,
    )
    expect(
        "exit_code and captured bytes",
        (seen.result["exit_code"], seen.stdout_len, seen.stderr_len),
        (0, MUCH, MUCH),
    )


@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "nonblocking"])
@requires("EXEC-DEBUG-08", capability=HERE)
def test_the_flags_of_the_callers_stderr_stay(box: Box, blocking: bool) -> None:
    # Both are looked at: a change that is taken back later is seen by others meanwhile.
    events, gate = box.events(), box.fifo("open")
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(theirs, blocking)
    try:
        before = fcntl.fcntl(theirs, fcntl.F_GETFL)
        with box.exec.start(
            program=P.gate,
            args=[events.path, str(gate), "--out", "copied", "--then", "again"],
            debug=True,
            shim_stderr=theirs,
            within_s=10,
        ) as live:
            events.wait("ready")
            expect("something on the terminal", poll([ours], COPY_S), {ours})
            during = fcntl.fcntl(theirs, fcntl.F_GETFL)
            box.open_gate(gate)
            live.finish()
        after = fcntl.fcntl(theirs, fcntl.F_GETFL)
    finally:
        os.close(ours)
        os.close(theirs)
    expect("file status flags during and after the run", (during, after), (before, before))
