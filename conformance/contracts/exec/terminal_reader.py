"""Read terminals for the tests of EXEC-DEBUG."""

from __future__ import annotations

import contextlib
import os
import threading
import time

from boxspec.subject.observe.lines import Deadline, poll
from contracts.exec.host import ROOM

# After its run the last writer closes the terminal within this time, unless a process is left.
ENDS_S = 5.0


def all_of(fd: int, limit_s: float = 5) -> bytes:
    """Read everything that is available now. The limit is for a writer that never stops."""
    os.set_blocking(fd, False)
    read, limit = b"", Deadline(limit_s)
    with contextlib.suppress(BlockingIOError):
        while not limit.over() and (data := os.read(fd, ROOM)):
            read += data
    return read


class Reader(threading.Thread):
    """Reads all data without delay, until the last writer has closed the terminal or `stopped` is
    set."""

    def __init__(self, fd: int) -> None:
        super().__init__(daemon=True)
        self.fd = fd
        self.read = b""
        self.away_ms = 0.0
        self.stopped = threading.Event()

    def run(self) -> None:
        before = None
        while not self.stopped.is_set():
            if not poll([self.fd], 0.1):
                continue
            if not (data := os.read(self.fd, ROOM)):
                return
            now = time.monotonic()
            if before is not None:
                self.away_ms = max(self.away_ms, (now - before) * 1000)
            before = now
            self.read += data

    def came_to_the_end(self, limit_s: float = ENDS_S) -> bool:
        """Stop the reader; return True if the last writer had closed the terminal."""
        self.join(limit_s)
        ended = not self.is_alive()
        self.stopped.set()
        self.join()
        return ended
