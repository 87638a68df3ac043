"""The parent's ends of the child's pipes. All of them are non-blocking."""

from __future__ import annotations

import os
import select

CHUNK = 65536


class Output:
    """Collects one output stream, up to `cap` bytes of it."""

    def __init__(self, name: str, fd: int, cap: int | None) -> None:
        self.name = name
        self.fd = fd
        self.cap = cap
        self.kept: list[bytes] = []
        self.length = 0
        self.over = False

    def read(self) -> bytes:
        """Read once and return the bytes that are within the cap."""
        try:
            chunk = os.read(self.fd, CHUNK)
        except BlockingIOError:
            return b""
        if not chunk:
            self.close()
            return b""
        return self.keep(chunk)

    def keep(self, chunk: bytes) -> bytes:
        if self.cap is not None and self.length + len(chunk) > self.cap:
            chunk = chunk[: self.cap - self.length]
            self.over = True
        if chunk:
            self.kept.append(chunk)
            self.length += len(chunk)
        return chunk

    def has_writer(self) -> bool:
        """True if a process has the other end of the pipe open."""
        if self.fd < 0:
            return False
        poll = select.poll()
        poll.register(self.fd, 0)
        return not poll.poll(0)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class Input:
    """Writes the payload as fast as the child reads it, and then closes the pipe."""

    def __init__(self, fd: int, payload: bytes) -> None:
        self.fd = fd
        self.rest = memoryview(payload)
        self.failure: str | None = None
        if not payload:
            self.close()

    def write(self) -> None:
        if self.fd < 0:
            return
        try:
            self.rest = self.rest[os.write(self.fd, self.rest[:CHUNK]) :]
        except BlockingIOError:
            return
        except OSError as e:
            self.fail(e.errno)
        if not self.rest:
            self.close()

    def fail(self, number: int | None) -> None:
        self.failure = os.strerror(number or 0)
        self.close()

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
