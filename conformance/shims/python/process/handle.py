"""A process handle: a program that runs while its caller exchanges data with it."""

from __future__ import annotations

import _signal
import _thread
import errno
import os
import select
from time import monotonic_ns, sleep

import exec.signals as signals
from errors import Failed, reason_of
from exec.spawn import Spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from exec.group import End
    from exec.request import Request
    from kinds import Mask, Object

INHERIT, PIPED, NULL = 0, 1, 2
GRACE_MS = 5_000
MOST_POLL_MS = 2**31 - 1  # the greatest int of C
KILL_MS = 1_000
TICK_MS = 90  # if a group still runs, it is checked eleven times a second


class ConnectedSpawn(Spawn):
    """Starts a child, and connects its three streams as their modes say."""

    def __init__(
        self, request: Request, caller_mask: Mask, modes: Sequence[int], announce: int
    ) -> None:
        super().__init__(request, caller_mask)
        self.announce = announce  # before exec, the child writes its pid to this descriptor
        self.modes = list(modes)
        self.next = 1

    def join_group(self) -> None:
        super().join_group()
        if self.announce >= 0:
            os.write(self.announce, b"%d\n" % os.getpid())

    def open_stdin(self) -> tuple[int, int]:
        if self.modes[0] == PIPED:
            read, write = os.pipe()
            self.ours.append(write)
            self.theirs.append(read)
            return write, read
        return self.inherit_or_null(0, os.O_RDONLY)

    def open_output(self) -> tuple[int, int]:
        target, self.next = self.next, self.next + 1
        if self.modes[target] == PIPED:
            return self.pipe()
        return self.inherit_or_null(target, os.O_WRONLY)

    def inherit_or_null(self, target: int, flags: int) -> tuple[int, int]:
        if self.modes[target] == INHERIT:
            return -1, target
        fd = os.open("/dev/null", flags)
        self.theirs.append(fd)
        return -1, fd


class Process:
    """A process handle. Several threads may use it. No call may come after drop."""

    def __init__(
        self, request: Request, modes: Sequence[int], nonblocking: bool, announce: int = -1
    ) -> None:
        check(request, modes)
        check_ends()
        child = ConnectedSpawn(request, signals.caller_mask(), modes, announce).start()
        self.group = child.group
        self.pid = child.group.leader
        self.fds = [child.stdin, child.stdout, child.stderr]
        self.lock = _thread.allocate_lock()
        self.taking = _thread.allocate_lock()
        # a thread holds this lock while it checks and closes a stream
        self.closing = _thread.allocate_lock()
        self.end: End | None = None
        self.reaped = False
        self.detached = False
        self.waits = 0  # the number of calls in progress that use the pidfd
        for fd in self.fds:
            if fd >= 0:
                os.set_blocking(fd, not nonblocking)

    def take(self, stream: int) -> int:
        with self.taking:
            fd, self.fds[stream] = self.fds[stream], -1
            return fd

    def close_stream(self, stream: int) -> None:
        fd = self.take(stream)
        if fd >= 0:
            os.close(fd)

    def settled(self) -> bool:
        """Return True if the child has ended. Then its group is ended too, and the child is
        reaped."""
        with self.lock:
            if not self.reaped and self.look():
                self.end_group()
                self.group.reap()
                self.reaped = True
            return self.reaped

    def look(self) -> bool:
        try:
            self.end = self.group.leader_end()
        except ChildProcessError as e:
            self.group.kill_by_pidfd()
            raise Failed("execution", f"wait error: {reason_of(e)}") from None
        return self.end is not None

    def leaves_members(self) -> bool:
        """True if the leader has ended, but members of its group still run. No signal is sent."""
        with self.lock:
            return not self.reaped and self.look() and bool(self.group.alive())

    def is_over(self) -> bool:
        """True if no process of the group runs. No signal is sent."""
        with self.lock:
            return self.reaped or (self.look() and not self.group.alive())

    def end_group(self) -> None:
        until = monotonic_ns() + KILL_MS * 1_000_000
        self.group.signal(_signal.SIGKILL)
        while self.group.alive() and monotonic_ns() < until:
            self.group.signal(_signal.SIGKILL)
            sleep(0.002)

    def wait(self, timeout_ms: int | None) -> Object:
        if timeout_ms is None:
            self.close_stream(0)
        until = None if timeout_ms is None else monotonic_ns() + timeout_ms * 1_000_000
        self.await_end(until)
        return self.ended()

    def await_end(self, until: int | None) -> None:
        self.count(1)
        try:
            self.poll_end(until)
        finally:
            self.count(-1)

    def count(self, change: int) -> None:
        with self.taking:
            self.waits += change

    def poll_end(self, until: int | None) -> None:
        poll = select.poll()
        poll.register(self.group.pidfd, select.POLLIN)
        while not self.settled():
            left = None if until is None else until - monotonic_ns()
            if left is not None and left <= 0:
                return
            poll.poll(None if left is None else min(-(-left // 1_000_000), MOST_POLL_MS))

    def ended(self) -> Object:
        if not self.reaped or self.end is None:
            return {"running": True}
        code, status = self.end
        if code == os.CLD_EXITED:
            return {"exited": status}
        return {"signaled": signals.name_of(status)}

    def signal(self, number: int) -> None:
        with self.lock:
            if not self.reaped:
                self.group.signal(number)

    def close(self, grace_ms: int) -> Object:
        self.count(1)
        try:
            return self.end_in(grace_ms)
        finally:
            self.count(-1)

    def end_in(self, grace_ms: int) -> Object:
        if not self.is_over():
            self.signal(_signal.SIGTERM)
            self.signal(_signal.SIGCONT)
            self.await_group(monotonic_ns() + grace_ms * 1_000_000)
            self.signal(_signal.SIGKILL)
        self.await_end(monotonic_ns() + KILL_MS * 1_000_000)
        with self.closing:
            for stream in (0, 1, 2):
                if stream and self.fds[stream] >= 0 and has_writer(self.fds[stream]):
                    self.detached = True
                self.close_stream(stream)
        return {**self.ended(), "detached_writers": self.detached}

    def await_group(self, until: int) -> None:
        """Wait until the whole group has ended: the grace period is for all members."""
        poll = select.poll()
        poll.register(self.group.pidfd, select.POLLIN)
        while not self.reaped and self.group.alive() and (left := until - monotonic_ns()) > 0:
            pause_ms = min(-(-left // 1_000_000), TICK_MS)
            # the leader has ended; its members have no pidfd here, so they are checked at intervals
            if poll.poll(pause_ms):
                sleep(min(left / 1e9, TICK_MS / 1000) if self.group.alive() else 0)

    def drop(self) -> None:
        try:
            if not self.settled():
                self.signal(_signal.SIGKILL)
                self.await_end(monotonic_ns() + KILL_MS * 1_000_000)
        except Failed:
            pass  # another process has reaped the child, so there is no end to wait for
        for stream in (0, 1, 2):
            self.close_stream(stream)
        while self.waits:
            sleep(0.001)  # other threads still use the pidfd, which is closed after this
        self.group.close()


def check(request: Request, modes: Sequence[int]) -> None:
    if any(mode not in (INHERIT, PIPED, NULL) for mode in modes):
        raise Failed("invalid_input", "a stream is neither inherited (0), piped (1) nor null (2)")
    odd = (request.timeout_ms, request.max_output_bytes)
    if odd != (None, None) or request.stdin != "inherit" or request.debug:
        raise Failed("invalid_input", "a process takes program, args, current_dir and env")


def check_ends() -> None:
    # Other threads may have children too. So only the disposition of SIGCHLD is checked.
    if signals.child_ends_are_lost(alone=False):
        raise Failed("execution", f"wait timeout error: {os.strerror(errno.ECHILD)}")


def has_writer(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return not any(events & select.POLLHUP for _, events in poll.poll(0))
