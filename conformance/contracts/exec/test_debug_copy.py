"""EXEC-DEBUG: if a terminal accepts the whole copy, the copy is complete, for each kind of
terminal."""

from __future__ import annotations

import fcntl
import os
import re
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from boxspec.api import Late, expect, for_the_prompt, requires
from boxspec.api import programs as P
from boxspec.judge.expect import shown
from boxspec.subject.observe.lines import poll
from contracts.exec.answers import ObservedRun
from contracts.exec.client import ExecCase
from contracts.exec.host import ROOM, need_large_pipes, pipe_with_room
from contracts.exec.moments import pass_time, until
from contracts.exec.spawn_io import of_another_user, outcome, pattern, shell
from contracts.exec.terminal_reader import Reader, all_of
from contracts.exec.test_debug_terminal import (
    OTHER_USER,
    blocked_terminal,
    closed_terminal,
    need_root,
)
from contracts.shared.costs import costs_above_bounds
from contracts.shared.files import program_at
from contracts.shared.requests import Limits

HERE = "exec.debug"
# If the captured output itself is incomplete, these requirements report it. The failure of a
# test that needs them then counts as blocked.
CAPTURED = ["EXEC-DRAIN-01", "EXEC-DRAIN-02"]

# More bytes than fit in an unread terminal, the debug buffer and a pipe together.
FLOOD = 400_000
# More bytes than an implementation may keep in its buffer for a terminal that is not read.
MUCH = 150_000


def write(
    case: ExecCase, count: int, stderr: int | None = None, state: Sequence[str] = ()
) -> ObservedRun:
    """Run a child that writes `count` letters as fast as it can and ends, with debug."""
    need_large_pipes()
    if state:
        need_root()
    seen: ObservedRun = case.exec.run(
        program=str(program_at(case.tmp / "flood", P.flood)),
        args=[str(count), "0", "--pipe", str(ROOM)],
        debug=True,
        shim_stderr=stderr,
        state=state,
        within_s=8,
        expect_result=False,
    )
    return of_another_user(seen) if state else seen


@requires("EXEC-DEBUG-01", capability=HERE, overlap=1.0)
@pytest.mark.parametrize("how", ["deadline", "signal"])
def test_output_of_a_sigterm_handler_is_copied(case: ExecCase, how: str) -> None:
    events = case.events()
    limit: Limits = {"timeout_ms": 500} if how == "deadline" else {}
    line = 'trap \'echo at the end; exit 0\' TERM; "$1" --sync "$2"; while :; do sleep 0.02; done'
    with case.exec.start(**shell(line, P.emit, events.path), debug=True, **limit) as shim:
        events.wait("sync")
        if not limit:
            shim.signal("TERM")
        seen = shim.finish()
    if seen.stdout != b"at the end\n":
        raise Late("the child writes at its end", "at the end", str(seen.stdout))
    expect("whether the output is in the debug output", seen.stdout in seen.shim_stderr, True)


def read_until(fd: int, word: bytes, limit_s: float) -> bytes:
    """Read until the word has arrived, or until `limit_s` has passed."""
    data, end = b"", time.monotonic() + limit_s
    while word not in data and poll([fd], end - time.monotonic()):
        data += os.read(fd, 65536)
    return data


@requires("EXEC-DEBUG-11", capability=HERE, overlap=1.0, needs=["EXEC-TEXT-03"])
@pytest.mark.parametrize("text", ["Password: ", "x\n", "a line\nand a half"], ids=len)
def test_the_copy_does_not_wait_for_more_output(case: ExecCase, text: str) -> None:
    events, fifo = case.events(), case.fifo("gate")
    line = '"$1" --out "$2"; exec "$3" "$4" "$5"'
    words = (P.emit, text.encode().hex(), P.gate, events.path, fifo)
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    secret = {"MY_TOKEN": "~" * 64}
    try:
        with case.exec.start(
            **shell(line, *words), debug=True, shim_env=secret, shim_stderr=theirs
        ) as shim:
            events.wait("ready")
            shown = read_until(ours, text.encode(), 4)
            case.open_gate(fifo)
            seen = shim.finish()
    finally:
        os.close(ours)
        os.close(theirs)
    got = (seen.stdout, text.encode() in shown)
    what = "what is captured, and whether the copy had it while the child waited"
    expect(what, got, (text.encode(), True), {"shown": shown})


def expect_whole(seen: ObservedRun, copied: bytes, count: int) -> None:
    got = (outcome(seen), seen.stdout_len, pattern(count) in copied)
    what = "the child's end, captured bytes, and whether all of them are copied"
    expect(what, got, ("exit 0", count, True), {"bytes on the terminal": len(copied)})


@contextmanager
def roomy_pipe() -> Iterator[tuple[int, int]]:
    need_large_pipes()
    with pipe_with_room() as ends:
        yield ends


@contextmanager
def socket_with_room() -> Iterator[tuple[int, int]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, ROOM)
        yield ours.fileno(), theirs.fileno()


Terminal = Callable[[], AbstractContextManager[tuple[int, int]]]

ROOMY: dict[str, tuple[Terminal, Sequence[str]]] = {
    "pipe": (roomy_pipe, ()),
    "pipe_of_another_user": (roomy_pipe, OTHER_USER),
    "socket": (socket_with_room, ()),
}


@pytest.mark.parametrize("kind", ROOMY)
@requires("EXEC-DEBUG-01", capability=HERE, needs=CAPTURED)
def test_a_terminal_with_enough_room_gets_the_whole_copy(case: ExecCase, kind: str) -> None:
    # The terminal has room for the whole copy, so it need not be read during the run.
    terminal, state = ROOMY[kind]
    with terminal() as (ours, theirs):
        seen = write(case, MUCH, theirs, state)
        copied = all_of(ours)
    expect_whole(seen, copied, MUCH)


@requires("EXEC-DEBUG-01", capability=HERE, needs=CAPTURED)
def test_a_file_gets_the_whole_copy(case: ExecCase) -> None:
    seen = write(case, MUCH)
    expect_whole(seen, seen.shim_stderr, MUCH)


# The smallest pipe has room for one page.
NARROW = 4096
# Fewer bytes than the buffer of the copy can hold.
SOME = 60_000
# If a reader pauses longer than this between two reads, it did not read continuously.
AWAY_MS = 20.0


def expect_the_end(ended: bool) -> None:
    expect("whether all writers of the terminal are closed after the run", ended, True)


@pytest.mark.parametrize("state", [(), OTHER_USER], ids=["own", "of_another_user"])
@requires("EXEC-DEBUG-01", capability=HERE, needs=CAPTURED)
def test_a_terminal_that_is_read_continuously_gets_the_whole_copy(
    case: ExecCase, state: Sequence[str]
) -> None:
    need_large_pipes()
    # The terminal has room for one page only, so the child ends before the whole copy is written.
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    reader = Reader(ours)
    try:
        fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, NARROW)
        reader.start()
        seen = write(case, SOME, theirs, state)
    finally:
        os.close(theirs)
        ended = reader.came_to_the_end()
        os.close(ours)
    expect_the_end(ended)
    if len(reader.read) < SOME and reader.away_ms > AWAY_MS and not case.attempt.realtime:
        what = "the longest time between two reads of the terminal"
        raise Late(what, f"at most {AWAY_MS:g} ms", f"{reader.away_ms:.1f} ms")
    with for_the_prompt(case):
        expect_whole(seen, reader.read, SOME)


def foreign(copied: bytes) -> int:
    """Count the parts of a copy that are not from the child, which writes only 23 letters."""
    return len(re.findall(rb"[^a-w]+", copied))


def read_late(case: ExecCase, name: str, count: int) -> bytes:
    """Return the copy on a terminal that is read only after the child has written all its
    output."""
    events, fifo = case.events(name), case.fifo(f"open-{name}")
    line = '"$1" "$2" 0; exec "$3" "$4" "$5" --then "$6"'
    request = shell(line, P.flood, count, P.gate, events.path, fifo, "at last")
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    reader = Reader(ours)
    try:
        with case.exec.start(**request, debug=True, shim_stderr=theirs, within_s=10) as shim:
            events.wait("ready")
            reader.start()
            # The terminal has room now, and the child waits.
            pass_time(3 * case.tick_ms)
            case.open_gate(fifo)
            shim.finish()
    finally:
        os.close(theirs)
        ended = reader.came_to_the_end()
        os.close(ours)
    expect_the_end(ended)
    return reader.read


@requires("EXEC-DEBUG-12", capability=HERE, overlap=1.5, needs=["EXEC-DEBUG-06"])
def test_omitted_output_is_reported_when_the_terminal_has_room_again(case: ExecCase) -> None:
    usual = foreign(read_late(case, "little", 100))
    copied = read_late(case, "much", FLOOD)
    reported = pattern(FLOOD) in copied or foreign(copied) > usual
    found = {"bytes on the terminal": len(copied), "its end": shown(copied[-200:])}
    with for_the_prompt(case):
        expect(
            "whether the debug output is complete, or reports the omission", reported, True, found
        )


@contextmanager
def full_and_closed_terminal() -> Iterator[int]:
    """Yield the write end of a full pipe whose read end is closed."""
    with blocked_terminal() as full:
        theirs = os.dup(full)
    # The block above has closed the read end.
    try:
        yield theirs
    finally:
        os.close(theirs)


CLOSED: dict[str, tuple[Callable[[], AbstractContextManager[int]], Sequence[str]]] = {
    "empty": (closed_terminal, ()),
    "full": (full_and_closed_terminal, ()),
    "full_of_another_user": (full_and_closed_terminal, OTHER_USER),
}


@pytest.mark.parametrize("how", CLOSED)
@requires("EXEC-DEBUG-07", pitfalls=["E19"], capability=HERE, overlap=1.5, needs=["EXEC-WAIT-03"])
def test_a_terminal_that_is_closed_costs_no_processor_time(case: ExecCase, how: str) -> None:
    # poll reports the descriptor as ready, because a write would fail at once.
    terminal, state = CLOSED[how]
    if state:
        need_root()
    events, fifo = case.events(), case.fifo("open")
    with (
        terminal() as stderr,
        case.exec.start(
            program=str(program_at(case.tmp / "gate", P.gate)),
            args=[events.path, str(fifo), "--out", "copied"],
            debug=True,
            shim_stderr=stderr,
            state=state,
            within_s=10,
            expect_result=False,
        ) as shim,
    ):
        if until(lambda: bool(events.all("ready")) or not shim.running) and shim.running:
            much = costs_above_bounds(shim, 1000, ["cpu_ms"])
            case.open_gate(fifo)
        seen = shim.finish()
    expect("how the child ended", outcome(of_another_user(seen) if state else seen), "exit 0")
    expect("processor time of the caller above the limit, in ms", much, {})


def streams_of(pid: int) -> list[str]:
    """Return the targets of the descriptors 0, 1 and 2 of a process."""
    return [str(Path(f"/proc/{pid}/fd/{number}").readlink()) for number in range(3)]


@pytest.mark.parametrize("when", ["before", "during"])
@requires("EXEC-DEBUG-13", capability=HERE, needs=["EXEC-DEBUG-07"])
def test_the_copy_for_a_closed_terminal_goes_nowhere_else(case: ExecCase, when: str) -> None:
    events, fifo = case.events(), case.fifo("open")
    line = 'echo first; "$0" "$1" "$2" && exec "$3" 300000 0'
    words = [P.gate, events.path, str(fifo), P.flood]
    reads, writes = os.pipe()
    # Both ends of a socket can be written to, so bytes that are written to it by mistake arrive.
    theirs, ours = socket.socketpair()
    if when == "before":
        os.close(reads)
    with (
        ours,
        case.exec.start(
            program="/bin/sh",
            args=["-c", line, *words],
            stdin="null",
            debug=True,
            shim_stdin=theirs.fileno(),
            shim_stderr=writes,
            hold=True,
            within_s=10,
        ) as shim,
    ):
        os.close(writes)
        events.wait("ready")
        usual = streams_of(shim.shim_pid)
        if when == "during":
            os.close(reads)
        case.open_gate(fifo)
        shim.wait_response()
        left = streams_of(shim.shim_pid)
        seen = shim.finish()
        theirs.close()
        ours.settimeout(5)
        written = ours.recv(100)
    expect(
        "how the child ended, and its output", (outcome(seen), seen.stdout_len), ("exit 0", 300_006)
    )
    expect("the caller's streams after the run", left, usual)
    expect("bytes in the caller's stdin", written, b"")
