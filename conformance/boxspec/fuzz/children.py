"""Start the processes of a run, and end all of them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from boxspec.subject.observe import procs

_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36
_libc = ctypes.CDLL(None, use_errno=True)

# The grace period in which an engine may save its state. AFL++ ends its own children in it.
GRACE_S = 5.0


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants.

    AFL++ starts processes in other sessions, which a signal to the group does not reach.
    """
    _libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _die_with_the_parent() -> None:
    _libc.prctl(_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


class Child:
    """The process of an engine, which leads a process group. Its output goes to a file."""

    def __init__(
        self, argv: Sequence[str | Path], env: Mapping[str, str], folder: Path, log: Path
    ) -> None:
        self.log = log
        self.started = time.monotonic()
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                [str(word) for word in argv],
                env=env,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                process_group=0,
                preexec_fn=_die_with_the_parent,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def status(self) -> int | None:
        """Return the exit status once the process has ended."""
        return self._process.poll()

    def output(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def ask_to_end(self) -> None:
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGINT)

    def end(self, patience_s: float) -> None:
        """Wait for the rest of the grace period, then kill the process and its group."""
        try:
            self._process.wait(max(patience_s, 0))
        except subprocess.TimeoutExpired:
            # The leader has not been reaped, so no other process group can have its id.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()


def end_all(children: Sequence[Child]) -> None:
    """Signal all children, wait one grace period for all of them, then kill those that are left."""
    for child in children:
        child.ask_to_end()
    until = time.monotonic() + GRACE_S
    for child in children:
        child.end(until - time.monotonic())
    sweep()


def sweep() -> None:
    """Kill all remaining descendants. After `end_all` only orphans of engines are left."""
    for _ in range(50):
        left = procs.tree(os.getpid())
        if not left:
            return
        for proc in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(proc.pid, signal.SIGKILL)
        for proc in procs.children(os.getpid()):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(proc.pid, 0)
