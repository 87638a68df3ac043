"""Limit how much shims write to the files of a case, because the files use memory."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from boxspec.subject.client.streams import MOST_READ
from boxspec.subject.observe.warden import Warden

# The limit is eight times what is read of a file. A writer can exceed it until the next check.
MOST_BYTES = 8 * MOST_READ
LOOK_S = 0.1


@dataclass(frozen=True)
class _Watched:
    warden: Warden
    files: tuple[Path, ...]

    def look(self) -> bool:
        """End the writers and return True if one of the files is too long."""
        for file in self.files:
            if _size(file) > MOST_BYTES:
                reason = f"it wrote more than {MOST_BYTES} bytes to its {file.name}"
                self.warden.ended_for = reason
                self.warden.command("sweep")
                return True
        return False

    def cut(self) -> None:
        for file in self.files:
            if _size(file) > MOST_READ:
                with contextlib.suppress(OSError):
                    _shorten(file)


def _size(file: Path) -> int:
    """Return the size, or 0 if it is unknown: a shim may have closed or replaced the folder."""
    try:
        return file.lstat().st_size
    except OSError:
        return 0


def _shorten(file: Path) -> None:
    """Truncate the file, but never the target of a link."""
    fd = os.open(file, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        os.ftruncate(fd, MOST_READ)
    finally:
        os.close(fd)


class Floods:
    """A thread that checks the files of all cases of a session. It sleeps while no shim runs."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._watched: dict[Warden, _Watched] = {}
        self._over = False
        self._thread = threading.Thread(target=self._run, name="floods", daemon=True)
        self._thread.start()

    def watch(self, warden: Warden, files: Sequence[Path]) -> None:
        with self._changed:
            self._watched[warden] = _Watched(warden, tuple(files))
            self._changed.notify()

    def forget(self, warden: Warden) -> None:
        """Stop checking the files of a warden whose processes have ended, and shorten long
        files."""
        with self._changed:
            watched = self._watched.pop(warden, None)
        if watched is not None:
            watched.cut()

    def _run(self) -> None:
        with self._changed:
            while not self._over:
                self._changed.wait(LOOK_S if self._watched else None)
                for each in [each for each in self._watched.values() if not each.warden.ended_for]:
                    each.look()

    def close(self) -> None:
        with self._changed:
            self._over = True
            self._changed.notify()
        self._thread.join()
