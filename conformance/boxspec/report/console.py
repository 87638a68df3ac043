"""Write the console output: escaped lines, and one live line on a terminal."""

from __future__ import annotations

import contextlib
import io
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO

from boxspec import SPEC_VERSION, __version__
from boxspec.judge.host import host
from boxspec.judge.record import Record
from boxspec.subject.contract import names, spoken
from boxspec.terminal import Terminal

# The interval of the live line on a terminal, and of progress lines in a file or a pipe.
LIVE_S, LINES_S = 1.0, 30.0
RED, YELLOW, GREEN = "1;31", "33", "1;32"


class Console(Terminal):
    """Prints the lines of a run, in order.

    quiet: print only failures and the verdict.
    """

    def __init__(
        self,
        out: TextIO | None = None,
        *,
        verbose: bool = False,
        quiet: bool = False,
        color: str = "auto",
    ) -> None:
        super().__init__(out, color)
        self.verbose, self.quiet = verbose, quiet
        self._judging = threading.Lock()

    def header(self) -> None:
        if self.quiet:
            return
        facts = host()
        who = "root" if facts["root"] else "not root"
        self.wrap(
            f"boxspec {__version__}, spec {SPEC_VERSION} · {facts['system']} {facts['release']}"
            f" {facts['machine']}, {facts['cpus']} CPUs, {who}"
        )

    def judging(self, hello: Mapping[str, Any], argv: Sequence[str], default: bool) -> None:
        """Print the name of the judged implementation, once. Callable from any thread."""
        if self.quiet or not self._judging.acquire(blocking=False):
            return
        made = hello.get("implementation", {})
        name = f"{made.get('name')} {made.get('version')}" if made else " ".join(argv)
        language = f" ({made['language']})" if made.get("language") else ""
        contracts = spoken(hello.get("capabilities", ()))
        every = "all contracts" if len(contracts) == len(names()) else ", ".join(contracts)
        what = f"implements {every or 'no contract'}"
        if default:
            what = "the bundled reference. Yours: --shim CMD"
        self.wrap(f"judging {name}{language} · {what}")

    def count(self, show: Callable[[Console], None]) -> int:
        """Return the number of lines that `show` would write."""
        lines = _Counted(self)
        show(lines)
        return lines.text.getvalue().count("\n")

    def test(self, record: Record) -> None:
        """Print one line per test in verbose runs."""
        if self.verbose:
            place = f"  {record.folder}" if record.folder else ""
            self.write(f"{record.verdict:<15}{record.seconds:7.2f} s  {record.id}{place}")


class _Counted(Console):
    """Writes to a text, in lines of the same width as another console."""

    def __init__(self, other: Console) -> None:
        self.text = io.StringIO()
        super().__init__(self.text, verbose=other.verbose, quiet=other.quiet, color="never")
        self._columns = other.columns

    @property
    def columns(self) -> int:
        return self._columns


class Progress:
    """Prints the progress of a run: every second on a terminal, otherwise every 30 seconds.

    progress_line: a function that returns the line, and the share of the tests that have ended,
        from 0 to 1. It is called every second even if no line is printed, because it also prints
        the name of the implementation once that is known.
    """

    def __init__(self, console: Console, progress_line: Callable[[], tuple[str, float]]) -> None:
        self._console, self._progress_line = console, progress_line
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        written = time.monotonic()
        # If the reader of the output has gone, the main thread reports the error.
        with contextlib.suppress(OSError, ValueError):
            while not self._over.wait(min(LIVE_S, LINES_S)):
                line, share = self._progress_line()
                if self._console.quiet:
                    continue
                self._console.status(line, share)
                if not self._console.tty and time.monotonic() - written >= LINES_S:
                    written = time.monotonic()
                    self._console.write(line)

    def stop(self) -> None:
        """Write no further line. Do not wait for the thread."""
        self._over.set()

    def close(self) -> None:
        self.stop()
        self._thread.join()
        with contextlib.suppress(OSError, ValueError):
            self._console.clear()
