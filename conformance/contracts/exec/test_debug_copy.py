"""debug: the copy is whole where the terminal takes it, whatever kind of terminal that is."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from boxspec.api import Box, HostLacks, Late, at_most, expect, for_the_prompt, requires
from boxspec.api import programs as P
from contracts.exec.answers import ObservedRun
from contracts.exec.spawn_io import outcome, shell
from contracts.exec.test_debug_terminal import (
    SOMEBODY_ELSE,
    as_somebody_else,
    closed_terminal,
    need_root,
    of_somebody_else,
)
from contracts.exec.test_wait import spent_in
from contracts.shared.files import program_at

HERE = "exec.debug"

Ask = Callable[[Box, str, int], ObservedRun]


def as_the_caller(box: Box, script: str, stderr: int) -> ObservedRun:
    seen: ObservedRun = box.exec.run(**shell(script), debug=True, shim_stderr=stderr, within_s=8)
    return seen


CALLERS: dict[str, Ask] = {"own": as_the_caller, "of_another_user": as_somebody_else}

# More than what a copy may keep of what a terminal does not take.
MUCH = 150_000
ROOM = 512 * 1024


def write_zeros(count: int) -> str:
    return f"head -c {count} /dev/zero"


@contextmanager
def pipe_with_room() -> Iterator[tuple[int, int]]:
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    try:
        try:
            fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, ROOM)
        except OSError as why:
            raise HostLacks("pipes", f"a pipe may not have room for {ROOM} bytes: {why}") from why
        yield ours, theirs
    finally:
        os.close(ours)
        os.close(theirs)


@contextmanager
def socket_with_room() -> Iterator[tuple[int, int]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, ROOM)
        yield ours.fileno(), theirs.fileno()


def all_of(fd: int) -> bytes:
    """What lies in there now."""
    os.set_blocking(fd, False)
    read = b""
    with contextlib.suppress(BlockingIOError):
        while data := os.read(fd, ROOM):
            read += data
    return read


ROOMY = {
    "pipe": (pipe_with_room, as_the_caller),
    "pipe_of_another_user": (pipe_with_room, as_somebody_else),
    "socket": (socket_with_room, as_the_caller),
}


@pytest.mark.parametrize("kind", ROOMY)
@requires("EXEC-DEBUG-01", capability=HERE)
def test_a_terminal_that_has_room_for_all_gets_all(box: Box, kind: str) -> None:
    # Nobody reads meanwhile, so that it takes all of it at whatever pace it is written.
    terminal, ask = ROOMY[kind]
    with terminal() as (ours, theirs):
        seen = ask(box, write_zeros(MUCH), theirs)
        copied = all_of(ours).count(0)
    got = (outcome(seen), seen.stdout_len, copied)
    expect("the child's end, captured bytes, and copied ones", got, ("exit 0", MUCH, MUCH))


@requires("EXEC-DEBUG-01", capability=HERE)
def test_a_file_gets_all(box: Box) -> None:
    seen = box.exec.run(**shell(write_zeros(MUCH)), debug=True)
    got = (outcome(seen), seen.stdout_len, seen.shim_stderr.count(0))
    expect("the child's end, captured bytes, and copied ones", got, ("exit 0", MUCH, MUCH))


# A page is the least that a pipe can have room for.
NARROW = 4096
# Less than what a copy may keep back.
SOME = 60_000
# A reader that was away for longer did not take all the while.
AWAY_MS = 20.0


class Reader(threading.Thread):
    """Reads all that comes, at once: up to the end of the last writer."""

    def __init__(self, fd: int) -> None:
        super().__init__(daemon=True)
        self.fd = fd
        self.zeros = 0
        self.away_ms = 0.0

    def run(self) -> None:
        before = None
        while data := os.read(self.fd, ROOM):
            now = time.monotonic()
            if before is not None:
                self.away_ms = max(self.away_ms, (now - before) * 1000)
            before = now
            self.zeros += data.count(0)


@pytest.mark.parametrize("whose", CALLERS)
@requires("EXEC-DEBUG-01", capability=HERE)
def test_a_terminal_that_is_read_all_the_while_gets_all(box: Box, whose: str) -> None:
    # It has room for a page at a time: the child has ended before the copy has got through.
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    reader = Reader(ours)
    try:
        fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, NARROW)
        reader.start()
        seen = CALLERS[whose](box, write_zeros(SOME), theirs)
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)
    expect("the child's end and captured bytes", (outcome(seen), seen.stdout_len), ("exit 0", SOME))
    if reader.zeros < SOME and reader.away_ms > AWAY_MS and not box.look.realtime:
        what = "the longest time between two reads of the terminal"
        raise Late(what, f"at most {AWAY_MS:g} ms", f"{reader.away_ms:.1f} ms")
    with for_the_prompt(box):
        expect("copied bytes", reader.zeros, SOME)


@pytest.mark.parametrize("whose", CALLERS)
@requires("EXEC-DEBUG-07", pitfalls=["E19"], capability=HERE, overlap=1.5)
def test_a_terminal_that_is_closed_costs_no_processor_time(box: Box, whose: str) -> None:
    # It is always ready, to say that it takes nothing.
    events, fifo = box.events(), box.fifo("open")
    state = SOMEBODY_ELSE if whose == "of_another_user" else ()
    if state:
        need_root()
    gate = program_at(box.tmp / "gate", P.gate)
    with (
        closed_terminal() as stderr,
        box.exec.start(
            program=str(gate),
            args=[events.path, str(fifo), "--out", "copied"],
            debug=True,
            shim_stderr=stderr,
            state=state,
            within_s=10,
            expect_result=False,
        ) as live,
    ):
        events.wait("ready")
        spent, most = spent_in(live, "cpu_ms", 1000)
        box.open_gate(fifo)
        seen = of_somebody_else(live.finish())
    expect("the child's end", outcome(seen), "exit 0")
    expect("processor time of the caller, in ms", spent, at_most(most))
