"""Console output: escaped lines, and one live line on a terminal."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import TextIO

from boxspec.judge.host import host
from boxspec.judge.record import Record
from boxspec.terminal import Terminal

# Interval of progress output: on a terminal, and where lines are collected.
LIVE_S, LINES_S = 1.0, 10.0


class Console(Terminal):
    """Prints the lines of a run, in order."""

    def __init__(self, out: TextIO | None = None, *, verbose: bool = False) -> None:
        super().__init__(out)
        self.verbose = verbose

    def header(self, argv: list[str], default: bool) -> None:
        facts = host()
        who = "as root" if facts["root"] else "not as root"
        self.write(
            f"boxspec · {facts['system']} {facts['release']} {facts['machine']}"
            f" · {facts['cpus']} cpus · Python {facts['python']} · {who}"
        )
        claim = " (the bundled reference; use --shim CMD for yours)" if default else ""
        self.write(f"shim      {' '.join(argv)}{claim}")

    def test(self, record: Record) -> None:
        """Print one line per test in verbose runs."""
        if self.verbose:
            place = f"  {record.folder}" if record.folder else ""
            self.write(f"{record.verdict:<15}{record.seconds:7.2f} s  {record.id}{place}")


class Progress:
    """Prints the progress of a run: every second on a terminal, otherwise one line every 10
    seconds."""

    def __init__(self, console: Console, progress_line: Callable[[], str]) -> None:
        self._console, self._progress_line = console, progress_line
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        tty = self._console.tty
        # If the reader of the output has gone, the main thread reports it.
        with contextlib.suppress(OSError, ValueError):
            while not self._over.wait(LIVE_S if tty else LINES_S):
                (self._console.status if tty else self._console.write)(self._progress_line())

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        with contextlib.suppress(OSError, ValueError):
            self._console.clear()
