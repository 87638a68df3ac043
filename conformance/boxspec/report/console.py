"""What a person sees: lines, escaped and whole, and one live line where there is a terminal."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable
from typing import TextIO

from boxspec.judge.host import host
from boxspec.judge.record import Record
from boxspec.printable import one_line

# How often somebody is told how far a run is: at a terminal, and where lines are collected.
LIVE_S, LINES_S = 1.0, 10.0


class Console:
    """Writes to `out`, from any thread; colours only where a person looks at a terminal."""

    def __init__(self, out: TextIO | None = None, *, verbose: bool = False) -> None:
        self.out = out or sys.stdout
        self.verbose = verbose
        self.tty = self.out.isatty() and os.environ.get("TERM") != "dumb"
        self.colour = self.tty and not os.environ.get("NO_COLOR")
        self._line = False
        self._lock = threading.Lock()

    def write(self, text: object = "", colour: str = "") -> None:
        """One line, whatever is in it."""
        # A failing shim may have put anything into the evidence.
        encoding = self.out.encoding or "utf-8"
        line = one_line(text).encode(encoding, "backslashreplace").decode(encoding)
        if colour and self.colour:
            line = f"\033[{colour}m{line}\033[0m"
        with self._lock:
            self._clear()
            self.out.write(line + "\n")
            self.out.flush()

    def block(self, lines: Iterable[str], colour: str = "") -> None:
        """Several lines, the first in a colour."""
        for number, line in enumerate(lines):
            self.write(line, "" if number else colour)

    def _clear(self) -> None:
        if self._line:
            self.out.write("\r\033[K")
            self._line = False

    def status(self, text: str) -> None:
        """The live line; the next one takes its place."""
        if not self.tty:
            return
        width = os.get_terminal_size(self.out.fileno()).columns - 1
        with self._lock:
            self.out.write("\r\033[K" + one_line(text)[:width])
            self.out.flush()
            self._line = True

    def clear(self) -> None:
        with self._lock:
            self._clear()

    def header(self, argv: list[str], default: bool) -> None:
        facts = host()
        who = "as root" if facts["root"] else "not as root"
        self.write(
            f"boxspec · {facts['system']} {facts['release']} {facts['machine']}"
            f" · {facts['cpus']} cpus · Python {facts['python']} · {who}"
        )
        claim = " (the reference, no --shim was given)" if default else ""
        self.write(f"shim      {' '.join(argv)}{claim}")

    def test(self, record: Record) -> None:
        """One line a test, in verbose runs."""
        if self.verbose:
            place = f"  {record.folder}" if record.folder else ""
            self.write(f"{record.verdict:<15}{record.seconds:7.2f} s  {record.id}{place}")


class Progress:
    """Says how far a run is: each second at a terminal, else one line every 10 seconds."""

    def __init__(self, console: Console, told: Callable[[], str]) -> None:
        self._console, self._told = console, told
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        tty = self._console.tty
        # A reader that has left is for the main thread to say.
        with contextlib.suppress(OSError, ValueError):
            while not self._over.wait(LIVE_S if tty else LINES_S):
                (self._console.status if tty else self._console.write)(self._told())

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        with contextlib.suppress(OSError, ValueError):
            self._console.clear()
