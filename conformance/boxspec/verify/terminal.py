"""A terminal that takes the output of a command."""

from __future__ import annotations

import contextlib
import os
import pty
import threading
import tty

from boxspec.errors import UsageError
from boxspec.verify.launch import OUTPUT_MOST


def open_terminal() -> tuple[int, int]:
    """Return both ends of a new terminal. The caller closes them."""
    try:
        return pty.openpty()
    except OSError as why:
        problem = f"no terminal can be made here: {why}"
        raise UsageError("/dev/pts", problem, "mount -t devpts devpts /dev/pts") from None


class Terminal:
    """A terminal in raw mode, which changes no byte of the output.

    theirs: the descriptor for the command.
    shown: the output. It is complete after the end of the context.
    """

    def __enter__(self) -> Terminal:
        self._ours, self.theirs = open_terminal()
        tty.setraw(self.theirs)
        self._parts: list[bytes] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        return self

    def _read(self) -> None:
        size = 0
        # Reading fails with EIO once the last process has closed the terminal.
        with contextlib.suppress(OSError):
            while part := os.read(self._ours, 1 << 16):
                if size < OUTPUT_MOST:
                    self._parts.append(part)
                size += len(part)

    @property
    def shown(self) -> bytes:
        return b"".join(self._parts)

    def __exit__(self, *_: object) -> None:
        os.close(self.theirs)
        # A leftover process may keep the terminal open, so the wait has a limit.
        self._thread.join(1)
        os.close(self._ours)
