"""Read lines from a descriptor with a time limit. An incomplete line stays in the buffer."""

from __future__ import annotations

import os
import select
import time
from typing import Protocol


def poll(fds: list[int], timeout_s: float, writable: list[int] | None = None) -> set[int]:
    """Wait until one of `fds` is readable or hung up, or one of `writable` is writable.

    Return the descriptors for which this is true.
    """
    poller = select.poll()
    for fd in fds:
        poller.register(fd, select.POLLIN)
    for fd in writable or ():
        poller.register(fd, select.POLLOUT)
    return {fd for fd, _ in poller.poll(max(0.0, timeout_s) * 1000)}


# Limit for the length of a line; a longer line is returned in pieces.
MOST = 2**20


class LineReader:
    """Reads lines from a descriptor, which the caller closes.

    The descriptor is non-blocking and only `poll` waits, because another process may read the data
    first.
    """

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self.eof = False
        self.buffer = b""

    def read_now(self) -> list[bytes]:
        """Read once and return the lines. Call it when the descriptor is readable."""
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
    """A time limit. `left` returns how long to wait until it must be checked again."""

    def left(self) -> float: ...

    def over(self) -> bool: ...


class Deadline:
    """A limit at a fixed time of the monotonic clock."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.at = time.monotonic() + seconds

    def left(self) -> float:
        return max(0.0, self.at - time.monotonic())

    def over(self) -> bool:
        return self.left() <= 0
