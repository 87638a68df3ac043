"""Observe a named pipe from outside."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

Params = dict[str, object]
NAME = "pipe"


class PipeReader:
    """Keeps the read end of a named pipe open inside the with-block, so that writers always have a
    reader.

    Written bytes stay in the pipe until `effects` reads them.
    """

    def __init__(self, folder: Path) -> None:
        self.params: Params = {}
        self._path = folder / NAME
        os.mkfifo(self._path)
        # All users may write, because the attempt may run as another user.
        self._path.chmod(0o666)
        self._fd = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def effects(self) -> list[str]:
        with contextlib.suppress(BlockingIOError):
            if os.read(self._fd, 4096):
                return [f"{self._path}: written to"]
        return []

    def __enter__(self) -> PipeReader:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)
