"""Connect a program to the shim's own standard streams."""

from __future__ import annotations

import _signal
import os
import select
from sys import byteorder
from time import monotonic_ns, sleep

import constants
import exec.signals as signals
from errors import Failed, reason_of
from process.handle import PIPED, Process, check_ends

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from exec.request import Request
    from kinds import Object

LINGER_NS = 1_000_000_000
CHUNK = 65536
MOST_DESCRIPTORS = 1 << 20
SURE = 4096  # a pipe that poll reports as writable accepts this many bytes without blocking


class Relay:
    def __init__(self, source: int, target: int) -> None:
        self.source = source
        self.target = target
        self.rest = b""
        self.passed = 0  # the number of bytes that were written
        self.failure: str | None = None  # the reason if the source could not be read

    def interests(self) -> list[tuple[int, int]]:
        if self.target < 0:
            return []
        if self.rest:
            return [(self.target, select.POLLOUT)]
        if self.source < 0:
            return []
        return [(self.source, select.POLLIN), (self.target, 0)]

    def turn(self, ready: dict[int, int]) -> bool:
        try:
            if not self.rest and ready.get(self.source, 0):
                self.rest = self.read()
                self.source = self.source if self.rest else -1
                return True
            events = ready.get(self.target, 0)
            if self.rest and events:
                written = os.write(self.target, self.rest[:SURE])
                self.rest = self.rest[written:]
                self.passed += written
                return True
            if events & (select.POLLERR | select.POLLHUP):
                self.target = -1
        except BlockingIOError:
            pass
        except OSError:
            self.target, self.rest = -1, b""
        return False

    def read(self) -> bytes:
        try:
            return os.read(self.source, CHUNK)
        except BlockingIOError:
            raise
        except OSError as e:
            self.failure = reason_of(e)
            return b""

    def held(self) -> int:
        """Return the number of bytes that are buffered here, or that can be read now."""
        from fcntl import ioctl
        from termios import FIONREAD

        # If one end is closed, the source may be closed too. Then its number of bytes cannot be
        # read
        open_ends = self.source >= 0 and self.target >= 0
        in_pipe = ioctl(self.source, FIONREAD, bytes(4)) if open_ends else bytes(4)
        return len(self.rest) + int.from_bytes(in_pipe, byteorder)

    def done(self) -> bool:
        return self.target < 0 or (self.source < 0 and not self.rest)


class Bridge:
    def __init__(self, request: Request) -> None:
        self.request = request
        self.until: int | None = None
        self.signalled = False
        self.killed = False

    def run(self) -> Object:
        check_ends()  # this must come before the watcher, which is a child too
        _signal.signal(_signal.SIGPIPE, _signal.SIG_IGN)
        self.watch = signals.handlers.acquire()
        watcher, guard = start_watcher()
        try:
            self.process = self.open(guard)
            fds = self.process.fds
            self.relays = [Relay(0, fds[0]), Relay(fds[1], 1), Relay(fds[2], 2)]
            end = self.until_the_end()
            self.dismiss(guard)
            self.pass_the_rest_on()
            self.process.drop()
            self.expect_nothing_lost()
            return end
        finally:
            self.dismiss(guard)
            os.close(guard)
            os.waitpid(watcher, 0)

    def open(self, guard: int) -> Process:
        return Process(self.request, (PIPED,) * 3, True, announce=guard)

    def expect_nothing_lost(self) -> None:
        for name, each in zip(("stdin", "stdout", "stderr"), self.relays, strict=True):
            if each.failure:
                raise Failed("execution", f"failed to pass {name} on: {each.failure}")

    def dismiss(self, guard: int) -> None:
        """Write 0 to the watcher, which then kills no group.

        After this, the number of the group may be reused.
        """
        os.write(guard, b"0\n")

    def until_the_end(self) -> Object:
        while self.grace_is_used() or not self.process.settled():
            self.relay(self.relays, self.until)
            self.escalate()
        return self.process.ended()

    def escalate(self) -> None:
        signals.handlers.collect()
        now = monotonic_ns()
        if self.watch.noted and not self.signalled:
            self.signalled = True
            self.until = now + self.grace_ms() * 1_000_000
            self.process.signal(_signal.SIGTERM)
            self.process.signal(_signal.SIGCONT)
        elif self.until is not None and now >= self.until and not self.killed:
            self.killed, self.until = True, None
            self.process.signal(_signal.SIGKILL)

    def grace_is_used(self) -> bool:
        """True if members of the group are in their grace period. The leader may have ended."""
        return self.until is not None and self.process.leaves_members()

    def grace_ms(self) -> int:
        return constants.BRIDGE_GRACE_MS

    def relay(self, relays: list[Relay], until: int | None) -> bool:
        poll = select.poll()
        for each in relays:
            for fd, events in each.interests():
                poll.register(fd, events)
        if self.process.end is None:
            poll.register(self.process.group.pidfd, select.POLLIN)
        elif self.until is not None:
            # the end of a member is no event, so check again soon
            until = monotonic_ns() + constants.TICK_NS
        if not self.signalled:
            poll.register(signals.handlers.read_fd, select.POLLIN)
        left = None if until is None else max(0, -(-(until - monotonic_ns()) // 1_000_000))
        ready = dict(poll.poll(left))
        moved = [each.turn(ready) for each in relays]
        self.end_sides()
        return any(moved)

    def end_sides(self) -> None:
        for stream, each in enumerate(self.relays):
            if each.done():
                self.process.close_stream(stream)

    def pass_the_rest_on(self) -> None:
        """Pass on the remaining output.

        The time limit starts again after each byte of the group's output, because the reader may be
        slow. Output of processes outside the group does not extend the limit.
        """
        until = monotonic_ns() + LINGER_NS
        outputs = self.relays[1:]
        whole = [each.passed + each.held() for each in outputs]
        while monotonic_ns() < until and not all(each.done() for each in outputs):
            owed = still_owed(outputs, whole)
            moved = self.relay(outputs, until) and still_owed(outputs, whole) < owed
            signals.handlers.collect()
            self.signalled = self.signalled or bool(self.watch.noted)
            if moved and not self.signalled:
                until = monotonic_ns() + LINGER_NS


def still_owed(relays: list[Relay], whole: list[int]) -> int:
    both = zip(relays, whole, strict=True)
    return sum(max(0, count - each.passed) for each, count in both if not each.done())


def start_watcher() -> tuple[int, int]:
    """Start the watcher. Return its pid and the write end of its pipe.

    When the pipe closes, the watcher kills the group whose number was written last.
    """
    read, write = os.pipe()
    mask = _signal.pthread_sigmask(_signal.SIG_SETMASK, _signal.valid_signals())
    pid = os.fork()
    if pid == 0:
        watch(read)
    # The watcher leaves this group first. So a kill of this group does not end it.
    os.setpgid(pid, pid)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)
    os.close(read)
    return pid, write


def watch(read: int) -> NoReturn:
    try:
        os.dup2(read, 0)
        # Close all descriptors from 1 on. They include the write end of this pipe, which would keep
        # the pipe open for ever.
        os.closerange(1, MOST_DESCRIPTORS)
        numbers = b""
        while piece := os.read(0, 64):
            numbers += piece
        found = [int(number) for number in numbers.split()]
        until = monotonic_ns() + 500_000_000
        while found and found[-1] > 1 and monotonic_ns() < until:
            os.killpg(found[-1], _signal.SIGKILL)
            sleep(0.005)
    except OSError:
        pass
    os._exit(0)
