"""Lines out of a descriptor with a limit in time; half a line stays in the buffer."""

from __future__ import annotations

import os
import select
import time
from typing import Protocol


def poll(fds: list[int], timeout_s: float, writable: list[int] | None = None) -> set[int]:
    """The readable (or hung-up) ones of `fds`, and the `writable` ones, at most that much later."""
    poller = select.poll()
    for fd in fds:
        poller.register(fd, select.POLLIN)
    for fd in writable or ():
        poller.register(fd, select.POLLOUT)
    return {fd for fd, _ in poller.poll(max(0.0, timeout_s) * 1000)}


# Of one line; what is longer is given in pieces.
MOST = 2**20


class LineReader:
    """Owns no descriptor: whoever opened it closes it. It waits in `poll` alone, which has a limit:
    what was readable then may be read by somebody else before we do."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self.eof = False
        self.buffer = b""

    def read_now(self) -> list[bytes]:
        """What one read gives; call it when the descriptor is readable."""
        try:
            data = os.read(self.fd, 65536)
        except BlockingIOError:
            return []
        if not data:
            self.eof = True
            return []
        *lines, self.buffer = (self.buffer + data).split(b"\n")
        if len(self.buffer) > MOST:
            lines.append(self.buffer)
            self.buffer = b""
        return lines

    def wait(self, timeout_s: float) -> list[bytes]:
        if self.eof or not poll([self.fd], timeout_s):
            return []
        return self.read_now()


class Limit(Protocol):
    """How much longer something is waited for: `left` is when to look again, at most."""

    def left(self) -> float: ...

    def over(self) -> bool: ...


class Deadline:
    """A moment on the monotonic clock."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.at = time.monotonic() + seconds

    def left(self) -> float:
        return max(0.0, self.at - time.monotonic())

    def over(self) -> bool:
        return self.left() <= 0
