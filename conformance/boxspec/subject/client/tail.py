"""The end of an endless stream: read as it comes, so that it fills no disk and blocks nobody."""

from __future__ import annotations

import os
import threading

from boxspec.subject.observe.lines import poll

MOST_BYTES = 65_536
# Somebody who got out of the reach of the warden may write for ever.
_JOIN_S = 1.0


class Tail:
    """Owns the reading end of a pipe, until `close`."""

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
        """What came last."""
        with self._lock:
            return bytes(self._kept)

    def close(self) -> None:
        """Once the writers have ended: what is still in the pipe comes along."""
        if self._fd < 0:
            return
        self._reader.join(_JOIN_S)
        os.close(self._stop_w)
        self._reader.join()
        os.close(self._stop_r)
        os.close(self._fd)
        self._fd = -1
