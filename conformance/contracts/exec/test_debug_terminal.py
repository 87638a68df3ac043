"""EXEC-DEBUG: terminals that block, are closed, or cannot be opened again.

The implementation must not change the flags of the terminal.
"""

from __future__ import annotations

import fcntl
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Unpack

import pytest

from boxspec.api import expect, expect_no_longer, expect_within, requires
from boxspec.api import programs as P
from boxspec.subject.observe.lines import poll
from contracts.exec.answers import ObservedRun
from contracts.exec.client import ExecCase, RunOptions
from contracts.exec.host import need_other_users
from contracts.exec.spawn_io import of_another_user, outcome

HERE = "exec.debug"
MUCH = 300_000
# Output must be copied within this time, while the child runs.
COPY_S = 10


@contextmanager
def full_pipe() -> Iterator[tuple[int, int]]:
    """Yield both ends of a full pipe."""
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(theirs, False)
    try:
        with open(theirs, "wb", buffering=0, closefd=False) as pipe:
            for size in (4096, 1):
                while pipe.write(b"." * size):
                    pass
        # The flag belongs to the open file, which the shim shares with the test.
        os.set_blocking(theirs, True)
        yield ours, theirs
    finally:
        os.close(ours)
        os.close(theirs)


@contextmanager
def blocked_terminal() -> Iterator[int]:
    """Yield the write end of a full pipe that is never read."""
    with full_pipe() as (_, theirs):
        yield theirs


@contextmanager
def unread_terminal() -> Iterator[int]:
    """Yield the write end of a pipe that is not read.

    The pipe has room for several writes and for a part of the last one.
    """
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    try:
        os.write(theirs, b".")
        yield theirs
    finally:
        os.close(ours)
        os.close(theirs)


@contextmanager
def closed_terminal() -> Iterator[int]:
    """Yield the write end of a pipe whose read end is closed."""
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    os.close(ours)
    try:
        yield theirs
    finally:
        os.close(theirs)


def flood(case: ExecCase, stderr: int | str, **more: Unpack[RunOptions]) -> ObservedRun:
    """Run a program that writes more than any pipe holds, with debug."""
    floods: RunOptions = {"program": P.flood, "args": [str(MUCH), str(MUCH)], "debug": True}
    return case.exec.run(**(floods | more | {"shim_stderr": stderr}))


def expect_prompt_return(case: ExecCase, stderr: int) -> None:
    """Fail if a run with much output returns later than 100 ms after the end of its child."""
    # The child lives 50 ms longer than the flood, so that its end is logged separately.
    events = case.events()
    script = f'"{P.flood}" {MUCH} 0; exec "{P.slow_exit}" "$0" 50'
    seen = case.exec.run(
        program="/bin/sh",
        args=["-c", script, events.path],
        debug=True,
        shim_stderr=stderr,
        within_s=8,
    )
    end = events.wait("end").cause
    what = "from the child's end to the shim's end"
    expect_within(case, what, end, seen.end, 100 + case.tick_ms)


@requires("EXEC-DEBUG-06", pitfalls=["E18"], capability=HERE, overlap=0.5)
def test_a_terminal_that_blocks_does_not_stop_the_capture(case: ExecCase) -> None:
    with blocked_terminal() as stderr:
        seen = flood(case, stderr, within_s=8)
    expect(
        "exit_code and captured bytes",
        (seen.result["exit_code"], seen.stdout_len, seen.stderr_len),
        (0, MUCH, MUCH),
    )


@requires("EXEC-DEBUG-06", pitfalls=["E18"], capability=HERE, overlap=0.8, timing=True)
def test_a_terminal_that_blocks_delays_the_return_by_at_most_100_ms(case: ExecCase) -> None:
    with blocked_terminal() as stderr:
        expect_prompt_return(case, stderr)


@contextmanager
def slow_terminal() -> Iterator[int]:
    """Yield the write end of a full pipe, from which 4 KiB are read each 60 ms."""
    over = threading.Event()
    with full_pipe() as (ours, theirs):
        reader = threading.Thread(target=read_slowly, args=(ours, over))
        reader.start()
        try:
            yield theirs
        finally:
            over.set()
            reader.join()


def read_slowly(fd: int, over: threading.Event) -> None:
    while not over.wait(0.06):
        os.read(fd, 4096)


@requires("EXEC-DEBUG-06", pitfalls=["E18"], capability=HERE, overlap=0.8, timing=True)
def test_a_slow_terminal_delays_the_return_by_at_most_100_ms(case: ExecCase) -> None:
    with slow_terminal() as stderr:
        expect_prompt_return(case, stderr)


@requires("EXEC-DEBUG-06", pitfalls=["E18"], capability=HERE, overlap=1.5, timing=True)
def test_a_terminal_that_blocks_does_not_stop_the_deadline(case: ExecCase) -> None:
    # Compare with a terminal that accepts all output, because other tests are about deadlines.
    script = f'"{P.flood}" {MUCH} 0; exec "{P.slow_exit}" /dev/null 4000'
    request: dict[str, Any] = {
        "program": "/bin/sh",
        "args": ["-c", script],
        "debug": True,
        "timeout_ms": 300,
    }
    control = case.exec.run(**request, shim_stderr="null", within_s=10)
    with blocked_terminal() as stderr:
        seen = case.exec.run(**request, shim_stderr=stderr, within_s=10)
    what = "how much longer the run takes with a terminal that blocks"
    expect_no_longer(case, what, seen, control, 100 + case.tick_ms)


@requires("EXEC-DEBUG-07", pitfalls=["E19"], capability=HERE)
def test_a_closed_terminal_harms_neither_caller_nor_capture(case: ExecCase) -> None:
    with closed_terminal() as stderr:
        seen = flood(case, stderr, within_s=8)
    expect(
        "how the shim ended, exit_code and captured bytes",
        (seen.shim_exit, seen.result["exit_code"], seen.stdout_len, seen.stderr_len),
        (("exited", 0), 0, MUCH, MUCH),
    )


# A caller whose stderr is a pipe of root, as with `sudo -u`: it can write to the pipe, but not open
# it again.
OTHER_USER = ("--uid", "54331")


def need_root() -> None:
    need_other_users("only root can make a pipe of another user")


def run_as_other_user(case: ExecCase, script: str, stderr: int) -> ObservedRun:
    """Run a caller as that user, with debug."""
    need_root()
    seen: ObservedRun = case.exec.run(
        program="/bin/sh",
        args=["-c", script],
        debug=True,
        shim_stderr=stderr,
        state=OTHER_USER,
        within_s=8,
        expect_result=False,
    )
    return of_another_user(seen)


@requires("EXEC-DEBUG-01", capability=HERE)
def test_a_terminal_that_cannot_be_reopened_gets_the_copy(case: ExecCase) -> None:
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    try:
        seen = run_as_other_user(case, "echo copied", theirs)
        copied = os.read(ours, 1000) if poll([ours], 0) else b""
    finally:
        os.close(ours)
        os.close(theirs)
    got = (outcome(seen), seen.stdout, b"copied\n" in copied)
    expect(
        "how the child ended, the captured output, and whether it is in the debug output",
        got,
        ("exit 0", b"copied\n", True),
    )


@requires("EXEC-DEBUG-06", capability=HERE, overlap=0.5)
def test_a_blocked_terminal_that_cannot_be_reopened_does_not_stop_the_capture(
    case: ExecCase,
) -> None:
    with unread_terminal() as stderr:
        seen = run_as_other_user(case, f"head -c {MUCH} /dev/zero", stderr)
    expect(
        "how the child ended, and captured bytes",
        (outcome(seen), seen.stdout_len),
        ("exit 0", MUCH),
    )


def target_of(pid: int, fd: int) -> str:
    """Return the target of a descriptor of a process, from /proc."""
    try:
        return str(Path(f"/proc/{pid}/fd/{fd}").readlink())
    except OSError:
        return "nothing"


@requires("EXEC-DEBUG-07", pitfalls=["E19"], capability=HERE)
def test_the_callers_descriptor_of_a_closed_terminal_stays_open(case: ExecCase) -> None:
    # A socket cannot be opened again, so the copy uses the caller's own descriptor. If an
    # implementation stops copying, it must not close this descriptor.
    ours, theirs = socket.socketpair()
    with theirs:
        ours.close()
        with case.exec.start(
            program=P.flood,
            args=["100", "0"],
            debug=True,
            shim_stderr=theirs.fileno(),
            hold=True,
            within_s=8,
        ) as shim:
            shim.wait_response()
            # If the descriptor was closed, the next opened file has its number.
            open_there = target_of(shim.shim_pid, 2)
            seen = shim.finish()
        wanted = target_of(os.getpid(), theirs.fileno())
    got = (outcome(seen), seen.stdout_len, open_there)
    expect(
        "how the child ended, captured bytes, and the caller's descriptor 2",
        got,
        ("exit 0", 100, wanted),
    )


@requires("EXEC-DEBUG-07", pitfalls=["E19"], capability=HERE)
def test_a_caller_without_stderr_captures_all_output(case: ExecCase) -> None:
    seen = case.exec.run(
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
def test_the_flags_of_the_callers_stderr_do_not_change(case: ExecCase, blocking: bool) -> None:
    # The flags are checked during and after the run, because other users of the file would notice
    # even a temporary change.
    events, gate = case.events(), case.fifo("open")
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(theirs, blocking)
    try:
        before = fcntl.fcntl(theirs, fcntl.F_GETFL)
        with case.exec.start(
            program=P.gate,
            args=[events.path, str(gate), "--out", "copied", "--then", "again"],
            debug=True,
            shim_stderr=theirs,
            within_s=10,
        ) as shim:
            events.wait("ready")
            expect("whether the terminal shows debug output", poll([ours], COPY_S), {ours})
            during = fcntl.fcntl(theirs, fcntl.F_GETFL)
            case.open_gate(gate)
            shim.finish()
        after = fcntl.fcntl(theirs, fcntl.F_GETFL)
    finally:
        os.close(ours)
        os.close(theirs)
    expect("file status flags during and after the run", (during, after), (before, before))
