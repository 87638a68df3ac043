"""Keep the end of a stream that may be endless.

A thread reads the stream all the time, so that the stream fills no disk and no pipe.
"""

from __future__ import annotations

import os
import threading

from boxspec.subject.observe.lines import poll

MOST_BYTES = 65_536
# Time limit at the end, because a process that escaped from the warden may write for ever.
_JOIN_S = 1.0


class Tail:
    """Reads a pipe until `close`, which also closes the descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._kept = bytearray()
        self._lock = threading.Lock()
        self._stop_r, self._stop_w = os.pipe2(os.O_CLOEXEC)
        self._reader = threading.Thread(target=self._read, name="stderr", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while self._stop_r not in (ready := poll([self._fd, self._stop_r], 3600)):
            if self._fd not in ready:
                continue
            data = os.read(self._fd, MOST_BYTES)
            if not data:
                return
            with self._lock:
                self._kept += data
                del self._kept[:-MOST_BYTES]

    def text(self) -> bytes:
        """Return the last bytes that were read."""
        with self._lock:
            return bytes(self._kept)

    def close(self) -> None:
        """Close the pipe.

        The writers should have ended. The data that is still in the pipe is read first.
        """
        if self._fd < 0:
            return
        self._reader.join(_JOIN_S)
        os.close(self._stop_w)
        self._reader.join()
        os.close(self._stop_r)
        os.close(self._fd)
        self._fd = -1
