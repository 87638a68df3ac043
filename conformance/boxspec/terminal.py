"""Write lines, with a status line and colours if the output is a terminal."""

from __future__ import annotations

import io
import os
import re
import sys
import threading
from collections.abc import Iterable
from typing import TextIO

from rich.console import Console as Layout
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from boxspec.printable import one_line

# The width of lines in a file or a pipe, unless COLUMNS is set.
PLAIN_COLUMNS = 100
# The text between the parts of a status line.
SEPARATOR = " · "
# The greatest and the smallest width of a progress bar.
BAR_COLUMNS, MIN_BAR = 30, 8


class Terminal:
    """Writes to `out` from any thread.

    color: `always`, `never`, or `auto`: at a terminal, unless NO_COLOR is set.
    """

    def __init__(self, out: TextIO | None = None, color: str = "auto") -> None:
        self.out = out or sys.stdout
        self.tty = self.out.isatty() and os.environ.get("TERM") != "dumb"
        automatic = self.tty and not os.environ.get("NO_COLOR")
        self.colour = automatic if color == "auto" else color == "always"
        self._line = False
        self._lock = threading.Lock()

    def renew_lock(self) -> None:
        """Make a new lock in a forked process, because another thread may have held the old one."""
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

    @property
    def columns(self) -> int:
        """Return the width of the terminal, or PLAIN_COLUMNS for a file or a pipe."""
        given = os.environ.get("COLUMNS", "")
        if given.isdigit() and int(given):
            return int(given)
        return self._width() if self.tty else PLAIN_COLUMNS

    def wrapped(
        self, text: str, first: str = "", indent: str = "", most: int | None = None
    ) -> list[str]:
        """Return the text in lines that fit. Lines are broken only between words.

        first, indent: the start of the first line, and of each other line.
        most: the number of lines after which the text is cut, with `…` as the last word. If one
            word fills these lines, its middle is left out.
        """
        width = max(self.columns - max(len(first), len(indent)) - 2 * bool(most), 20)
        text = one_line(text)
        if most:
            huge = rf"\S{{{max(most, 2) * width},}}"
            text = re.sub(huge, lambda word: _shortened(word[0], width), text)
        words = Text(text, overflow="ignore")
        lines = [line.plain.rstrip() for line in words.wrap(Layout(width=width), width)]
        whole = [
            f"{indent if number else first}{line}" for number, line in enumerate(lines or [""])
        ]
        if most and whole[most:]:
            whole[most - 1 :] = [f"{whole[most - 1]} …"]
        return whole

    def wrap(self, text: str, first: str = "", indent: str = "", colour: str = "") -> None:
        """Write the text in lines that fit. The first line has the colour."""
        self.block(self.wrapped(text, first, indent), colour)

    def table(self, table: Table) -> None:
        """Write a table without borders."""
        layout = Layout(file=io.StringIO(), width=max(self.columns, 60), color_system=None)
        with layout.capture() as made:
            layout.print(table)
        for number, line in enumerate(made.get().splitlines()):
            self.write(line.rstrip(), "" if number else "1")

    def block(self, lines: Iterable[str], colour: str = "") -> None:
        """Write several lines. The first line has the colour."""
        for number, line in enumerate(lines):
            self.write(line, "" if number else colour)

    def _clear(self) -> None:
        if self._line:
            self.out.write("\r\033[K")
            self._line = False

    def status(self, text: str, share: float | None = None, first: int = 1) -> None:
        """Write the status line in place of the previous one.

        text: parts with ` · ` between them. If they do not all fit, the first parts and the last
            part stay.
        first: how many parts at the beginning stay.
        share: the filled share of a progress bar, from 0 to 1. The bar is left out if there is no
            room for it.
        """
        if not self.tty:
            return
        width = self._width() - 1
        line = fitting(one_line(text), width, first)
        room = min(width - len(line) - 1, BAR_COLUMNS)
        bar = self._bar(share, room) if share is not None and room >= MIN_BAR else ""
        with self._lock:
            self.out.write(f"\r\033[K{bar}{line}")
            self.out.flush()
            self._line = True

    def _bar(self, share: float, columns: int) -> str:
        """Return a bar with a blank after it."""
        layout = Layout(
            file=self.out,
            width=columns,
            force_terminal=True,
            color_system="standard" if self.colour else None,
            legacy_windows=False,
        )
        with layout.capture() as made:
            layout.print(ProgressBar(total=1.0, completed=share, width=columns), end="")
        return made.get().replace("\n", "") + " "

    def _width(self) -> int:
        # If the size of the terminal is unknown, it is reported as 0 columns.
        return os.get_terminal_size(self.out.fileno()).columns or 80

    def clear(self) -> None:
        with self._lock:
            self._clear()


def fitting(line: str, width: int, first: int = 1) -> str:
    """Return a status line that fits: the first parts and the last part stay, others may be left
    out."""
    parts = line.split(SEPARATOR)
    while len(SEPARATOR.join(parts)) > width and parts[first + 1 :]:
        del parts[first]
    while len(SEPARATOR.join(parts)) > width and parts[1:]:
        parts.pop()
    words = parts[0].split(" ") if len(parts) == 1 else []
    while len(" ".join(words)) > width and words:
        words.pop()
    return SEPARATOR.join(parts) if parts[1:] else " ".join(words)


def _shortened(word: str, width: int) -> str:
    """Return the beginning and the end of a word, in at most `width` characters."""
    part = max(width // 2 - 12, 4)
    return f"{word[:part]}…({len(word) - 2 * part:,} more)…{word[-part:]}"
