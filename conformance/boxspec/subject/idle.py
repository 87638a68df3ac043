"""Examine an idle shim, which has answered `hello` and started no run.

A managed runtime changes its signal mask, dispositions, limits and descriptors when it starts. A
run is not responsible for those changes, so tests compare the state of a run with this state.
"""

from __future__ import annotations

import os
import signal
import uuid

from boxspec.errors import ShimBroke
from boxspec.subject.client.serve import Serve
from boxspec.subject.observe import procs
from boxspec.subject.observe.procs import Status


class Idle:
    """A serve session that has answered only `hello`."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._hello()

    def _hello(self) -> None:
        self._serve.call("hello", protocol=1, nonce=uuid.uuid4().hex)

    @property
    def pid(self) -> int:
        return self._serve.shim_pid

    def mask(self, name: str) -> set[int]:
        """Return the signal numbers in SigBlk, SigIgn or SigCgt of /proc/PID/status."""
        return procs.at_rest(self.pid).mask(name)

    @property
    def umask(self) -> int:
        return int(Status(self.pid)["Umask"], 8)

    @property
    def nice(self) -> int:
        return os.getpriority(os.PRIO_PROCESS, self.pid)

    def limits(self, which: int) -> tuple[int, int]:
        """Return the soft and the hard limit for a resource.RLIMIT_…."""
        return procs.limits(self.pid, which)

    def passed_on(self) -> list[tuple[int, str]]:
        """Return number and target of each descriptor above 2 that a program would inherit."""
        found = []
        for fd in sorted(map(int, os.listdir(f"/proc/{self.pid}/fd"))):
            info = procs.read(f"/proc/{self.pid}/fdinfo/{fd}")
            if fd > 2 and info is not None and not _flags(info) & os.O_CLOEXEC:
                found.append((fd, os.readlink(f"/proc/{self.pid}/fd/{fd}")))  # noqa: PTH115
        return found

    def after_signal(self, name: str) -> tuple[str, int] | None:
        """Send a signal. If the process then does not answer, return how it ended, else None."""
        os.kill(self.pid, signal.Signals[f"SIG{name}"])
        try:
            self._hello()
        except ShimBroke:
            ended = self._serve.warden.shim_exit
            return (ended.how, ended.number) if ended else None
        return None


def _flags(info: bytes) -> int:
    line = next(line for line in info.splitlines() if line.startswith(b"flags:"))
    return int(line.split()[1], 8)
