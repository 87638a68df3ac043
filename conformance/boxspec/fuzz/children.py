"""The processes that a run starts, and their end: nothing of them is left behind."""

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

# What an engine may take to write down where it is. AFL++ ends its own children first.
GRACE_S = 5.0


def adopt_orphans() -> None:
    """Whatever our children leave behind becomes our child: AFL++ starts sessions of their own."""
    _libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _die_with_the_parent() -> None:
    _libc.prctl(_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


class Child:
    """One engine process, the leader of its own group; what it says goes to a file."""

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
        """None while it runs."""
        return self._process.poll()

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def ask_to_end(self) -> None:
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGINT)

    def end(self, patience_s: float) -> None:
        """After what it may still take, it and its group are killed."""
        try:
            self._process.wait(max(patience_s, 0))
        except subprocess.TimeoutExpired:
            # The leader is not reaped yet, so the number of the group is still ours.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()


def end_all(children: Sequence[Child]) -> None:
    """All are asked at once, each has the grace; then whatever they left is swept."""
    for child in children:
        child.ask_to_end()
    until = time.monotonic() + GRACE_S
    for child in children:
        child.end(until - time.monotonic())
    sweep()


def sweep() -> None:
    """Kills by pid what lies below us: after `end_all` these are orphans of engines."""
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
