"""Write lines, with a status line and colours if the output is a terminal."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable
from typing import TextIO

from boxspec.printable import one_line


class Terminal:
    """Writes to `out` from any thread, with colours if it is a terminal."""

    def __init__(self, out: TextIO | None = None) -> None:
        self.out = out or sys.stdout
        self.tty = self.out.isatty() and os.environ.get("TERM") != "dumb"
        self.colour = self.tty and not os.environ.get("NO_COLOR")
        self._line = False
        self._lock = threading.Lock()

    def write(self, text: object = "", colour: str = "") -> None:
        """Write one line, with unprintable characters escaped."""
        # Characters that the encoding lacks are replaced, because evidence may contain any output
        # of a shim.
        encoding = self.out.encoding or "utf-8"
        line = one_line(text).encode(encoding, "backslashreplace").decode(encoding)
        if colour and self.colour:
            line = f"\033[{colour}m{line}\033[0m"
        with self._lock:
            self._clear()
            self.out.write(line + "\n")
            self.out.flush()

    def block(self, lines: Iterable[str], colour: str = "") -> None:
        """Write several lines, the first one in a colour."""
        for number, line in enumerate(lines):
            self.write(line, "" if number else colour)

    def _clear(self) -> None:
        if self._line:
            self.out.write("\r\033[K")
            self._line = False

    def status(self, text: str) -> None:
        """Write the status line in place of the previous one."""
        if not self.tty:
            return
        # A terminal whose size is unknown has 0 columns.
        width = (os.get_terminal_size(self.out.fileno()).columns or 80) - 1
        with self._lock:
            self.out.write("\r\033[K" + one_line(text)[:width])
            self.out.flush()
            self._line = True

    def clear(self) -> None:
        with self._lock:
            self._clear()
