"""Lines for a person: one that lives at the bottom, and colours, where a terminal shows them."""

from __future__ import annotations

import os
import sys
from typing import TextIO


class Terminal:
    """Writes to `out`; the live line and colours only where a person looks at a terminal."""

    def __init__(self, out: TextIO | None = None) -> None:
        self.out = out or sys.stdout
        self.tty = self.out.isatty() and os.environ.get("TERM") != "dumb"
        self.colour = self.tty and not os.environ.get("NO_COLOR")
        self._line = False

    def paint(self, text: str, code: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self.colour else text

    def write(self, text: str = "") -> None:
        self.clear()
        # A failing shim may have put anything into the evidence.
        encoding = self.out.encoding or "utf-8"
        self.out.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        self.out.flush()

    def status(self, text: str) -> None:
        """The live line; the next one takes its place."""
        if not self.tty:
            return
        width = os.get_terminal_size(self.out.fileno()).columns - 1
        self.out.write("\r\033[K" + text[:width])
        self.out.flush()
        self._line = True

    def clear(self) -> None:
        """Takes the live line away."""
        if self._line:
            self.out.write("\r\033[K")
            self._line = False
