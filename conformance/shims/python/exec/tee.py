"""Copy the output to the caller's stderr, for `debug`.

The copy never blocks, and never makes a run fail.
"""

from __future__ import annotations

import os
import select
import stat
from time import monotonic_ns

from exec.redact import Redactor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

ROOM = 64 * 1024
GOODBYE_NS = 100_000_000
SURE = 4096  # a pipe that poll reports as writable accepts this many bytes without blocking


def open_stderr_again() -> int:
    """Open the caller's stderr again. The new open file has its own flags.

    If this is refused, because the file belongs to another user, the caller's descriptor is used.
    It accepts SURE bytes without blocking if poll reports it as writable.
    """
    try:
        return os.open("/proc/self/fd/2", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except PermissionError:
        return os.dup(2)


class Tee:
    def __init__(self, values: Iterable[bytes]) -> None:
        self.redactors = {"stdout": Redactor(values), "stderr": Redactor(values)}
        self.queue = b""
        self.dropped = 0
        self.fd = self.open()

    def open(self) -> int:
        """Return a descriptor for stderr that can be made non-blocking.

        The caller's descriptor must not change its flags, so the two must not share them.
        """
        try:
            mode = os.fstat(2).st_mode
            if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
                return open_stderr_again()
            # a file never blocks, and the offset must be that of the caller's descriptor
            return os.dup(2)
        except OSError:
            return -1

    def feed(self, stream: str, chunk: bytes) -> None:
        self.put(self.redactors[stream].feed(chunk))

    def put(self, data: bytes) -> None:
        """Queue as much of the data as there is room for, and drop the rest.

        Once there is room again, report how many bytes were dropped.
        """
        if self.fd < 0:
            return
        self.write()
        if self.dropped and len(self.queue) <= ROOM // 2:
            self.queue += b"\n[%d bytes not shown]\n" % self.dropped
            self.dropped = 0
        while data and len(self.queue) < ROOM:
            room = ROOM - len(self.queue)
            self.queue += data[:room]
            data = data[room:]
            self.write()
        self.dropped += len(data)

    def write(self) -> None:
        """Write as much of the queue as possible without blocking."""
        while self.queue and self.fd >= 0 and self.writable(0):
            try:
                written = os.write(self.fd, self.queue[:SURE])
            except BlockingIOError:
                return
            except OSError:
                self.close()
                return
            self.queue = self.queue[written:]

    def writable(self, timeout_ms: int) -> bool:
        poll = select.poll()
        poll.register(self.fd, select.POLLOUT)
        return bool(poll.poll(timeout_ms))

    def finish(self) -> None:
        for redactor in self.redactors.values():
            self.put(redactor.feed(b"", last=True))
        self.put(b"")
        until = monotonic_ns() + GOODBYE_NS
        while self.queue and self.fd >= 0 and (left := until - monotonic_ns()) > 0:
            if self.writable(-(-left // 1_000_000)):
                self.write()
        self.close()

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
        self.queue = b""
