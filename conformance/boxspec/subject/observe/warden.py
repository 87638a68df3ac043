"""Run one shim process below its warden: a subreaper that reports, reaps and sweeps.

1. `Warden(argv, …)` starts the warden; the shim is its child, in its own process group.
2. `wait_exit()` waits for the shim; the warden adopts the orphans of the shim.
3. `sweep()` kills all remaining processes and ends the warden; `close()` is idempotent and sweeps.

When the kit ends, the control pipe closes, and the warden sweeps too. So no process outlives the
session.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from boxspec.errors import HarnessError, ShimBroke
from boxspec.judge.verdict import HostLacks
from boxspec.programs import programs
from boxspec.subject.observe import orphans, procs
from boxspec.subject.observe.lines import Deadline, Limit, LineReader
from boxspec.subject.observe.realtime import beside_the_target
from boxspec.subject.observe.stamps import Spent, Waited

CONTROL, REPORT = 3, 4
_DEFAULTED = sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})


STOPPED = "the warden was stopped"
# If a warden sends no report for this long, the kit checks whether it was stopped.
SILENT_S = 0.5
# The kit continues a stopped warden this many times. After that it kills all processes below the
# warden.
STOPS = 4


@dataclass(frozen=True)
class Kill:
    """A signal that the shim or a descendant has sent. A negative target is a process group."""

    sender: int
    t_ns: int
    target: int
    name: str


@dataclass(frozen=True)
class Exit:
    how: str
    number: int
    t_ns: int


def _high(fd: int) -> int:
    """Return a copy of the descriptor, with a number above those that spawn() assigns to the
    child's descriptors."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)


def spawn(argv: Sequence[str], env: Mapping[str, str], fds: Mapping[int, int]) -> int:
    """Call posix_spawn with exactly the descriptors `fds`, which maps target to source.

    The process gets default dispositions and an empty signal mask.
    """
    copies = {target: _high(source) for target, source in fds.items()}
    try:
        return os.posix_spawn(
            argv[0],
            list(argv),
            dict(env),
            file_actions=[(os.POSIX_SPAWN_DUP2, fd, target) for target, fd in copies.items()],
            setsigmask=[],
            setsigdef=_DEFAULTED,
        )
    finally:
        for fd in copies.values():
            os.close(fd)


class ShimNotExecuted(ShimBroke):
    def __init__(self, code: int) -> None:
        super().__init__(f"the shim cannot be executed: {os.strerror(code)}")
        self.code = code


class Warden:
    # The pids of all open wardens of this process.
    _open: ClassVar[set[int]] = set()

    def __init__(
        self,
        argv: Sequence[str],
        program: str | None = None,
        /,
        *,
        flags: Sequence[str] = (),
        env: Mapping[str, str],
        stdin: int,
        stdout: int,
        stderr: int,
    ) -> None:
        self._lock = threading.Lock()
        self.reports: list[list[str]] = []
        self.exits: dict[int, Exit] = {}
        self.spent: Spent | None = None
        # A text that says how the shim or one of its programs interfered with the warden, or empty.
        self.meddled = ""
        # The reason of a sweep that the kit started early; empty otherwise.
        self.ended_for = ""
        self._stops = 0
        # The last time at which the warden is known to have run.
        self._went_on = time.monotonic()
        # The kit recognises processes of the shim by this variable of their environment. A sandbox
        # must not see it, so the shim of a backend does not have it.
        log = env.get("BOXSPEC_SHIM_LOG")
        self._mark = None if log is None else f"BOXSPEC_SHIM_LOG={log}"
        self._token = os.urandom(12).hex().encode()
        self.shim_pid = 0
        self.t_started_ns = 0
        self.swept: int | None = None
        control_r, self._control = os.pipe2(os.O_CLOEXEC)
        report_r, report_w = os.pipe2(os.O_CLOEXEC)
        self._report = LineReader(report_r)
        os.write(self._control, self._token + b"\n")
        warden = program or programs.warden
        command = [warden, "--control", str(CONTROL), "--report", str(REPORT), *flags]
        try:
            self.pid = spawn(
                [*command, "--", *argv],
                env,
                {0: stdin, 1: stdout, 2: stderr, CONTROL: control_r, REPORT: report_w},
            )
        except OSError as why:
            os.close(self._control)
            os.close(report_r)
            raise HarnessError(f"the warden does not start: {why}") from why
        finally:
            os.close(control_r)
            os.close(report_w)
        self._open.add(self.pid)
        self._wait_started()

    def _wait_started(self) -> None:
        limit = Deadline(20)
        while not self.shim_pid:
            failed = self.report("failed")
            if failed:
                self.close()
                code, step = int(failed[1]), failed[2] if len(failed) > 2 else "exec"
                if step == "exec":
                    raise ShimNotExecuted(code)
                # This host cannot provide a state that the case needs, for example a pid namespace.
                reason = f"this host refuses the set-up step {step}: {os.strerror(code)}"
                raise HostLacks("set-up", reason)
            if self._report.eof or limit.over():
                self.close()
                told = self.reports or "it reported nothing"
                raise HarnessError(
                    f"the warden did not start the shim ({told}): the host may refuse it a system"
                    " call, such as signalfd; run outside of the filter"
                )
            self.pump(limit.left())

    @property
    def report_fd(self) -> int:
        """Return a descriptor that is readable if there are reports."""
        return self._report.fd

    def pump(self, timeout_s: float = 0.0) -> None:
        """Read reports. If there are none, wait at most `timeout_s` for the first one."""
        limit = Deadline(timeout_s)
        while not (lines := self._report.wait(min(limit.left(), SILENT_S))):
            if self._report.eof:
                self._has_ended()
                return
            self._go_on()
            if limit.over():
                return
        self._went_on = time.monotonic()
        for line in lines:
            self._take(line)

    def _take(self, line: bytes) -> None:
        token, _, rest = line.partition(b" ")
        words = rest.decode("ascii", "replace").split()
        if token != self._token or not words:
            self.meddled = f"a report that the warden did not write: {line[:200]!r}"
            return
        self.reports.append(words)
        if words[0] == "started":
            self.shim_pid, self.t_started_ns = int(words[1]), int(words[2])
        elif words[0] == "waited":
            ns, threads, late, cpu = map(int, words[2:6])
            self.spent = Spent(Waited(ns, threads), max(0, late), cpu)
        elif words[0] == "exit":
            self.exits[int(words[1])] = Exit(words[2], int(words[3]), int(words[4]))
        elif words[0] == "swept":
            self.swept = int(words[1])

    def _has_ended(self) -> None:
        """Record that the warden has ended.

        If it ended before its sweep, another process has killed it.
        """
        if self.shim_pid and self.swept is None:
            self.meddled = self.meddled or "the warden was killed"

    def _go_on(self) -> None:
        """Continue the warden if it was stopped, so that it can sweep the process that stopped
        it."""
        if time.monotonic() - self._went_on < SILENT_S:
            return
        self._went_on = time.monotonic()
        found = procs.proc(self.pid)
        if found is None or found.state not in "Tt":
            return
        self.meddled = self.meddled or STOPPED
        self._stops += 1
        for other in self.tree() if self._stops > STOPS else ():
            with contextlib.suppress(ProcessLookupError):
                os.kill(other.pid, signal.SIGKILL)
        os.kill(self.pid, signal.SIGCONT)

    def report(self, word: str) -> list[str] | None:
        """Return the first report that begins with this word."""
        return next((words for words in self.reports if words[0] == word), None)

    def wait_report(self, word: str, timeout_s: float) -> list[str] | None:
        limit = Deadline(timeout_s)
        while (found := self.report(word)) is None and not limit.over() and not self._report.eof:
            self.pump(limit.left())
        return found

    def kills(self) -> list[Kill]:
        """Return the signals that were sent so far (--trace-kill), without signal 0, which has no
        effect."""
        self.pump()
        rows = [words[1:] for words in self.reports if words[0] == "kill"]
        return [Kill(int(a), int(b), int(c), name) for a, b, c, name in rows if name != "0"]

    @property
    def shim_exit(self) -> Exit | None:
        return self.exits.get(self.shim_pid)

    def wait_exit(self, limit: Limit) -> Exit | None:
        """Return how the shim ended, if it ended before the limit."""
        while self.shim_exit is None and not limit.over() and not self._report.eof:
            self.pump(limit.left())
        if self.shim_exit is None:
            self.pump()
        return self.shim_exit

    @property
    def gone(self) -> bool:
        """True if the warden sends no more reports."""
        return self._report.eof

    def tree(self) -> list[procs.Proc]:
        """Return all descendants, including processes that left their group or session."""
        return procs.tree(self.pid)

    def command(self, line: str) -> None:
        # The lock prevents that the case closes the descriptor while the session interrupts the
        # case: the number of the descriptor could be reused.
        with self._lock:
            if self._control >= 0:
                with contextlib.suppress(BrokenPipeError):
                    os.write(self._control, line.encode() + b"\n")

    def sweep(self) -> int:
        """Kill the processes that are left, end the warden, and return how many processes there
        were."""
        if self.pid:
            self.command("sweep")
            limit = Deadline(20)
            while self.swept is None and not self._report.eof and not limit.over():
                self.pump(limit.left())
            self.close()
        return self.swept or 0

    def close(self) -> None:
        if not self.pid:
            return
        with self._lock:
            control, self._control = self._control, -1
            os.close(control)
        # Wait until the report pipe closes: the warden exits after its sweep.
        limit = Deadline(20)
        while not self._report.eof and not limit.over():
            self.pump(limit.left())
        if not self._report.eof:
            os.kill(self.pid, signal.SIGKILL)
        died = procs.proc(self.pid) if self.swept is None else None
        self._open.discard(self.pid)
        with beside_the_target():
            os.waitpid(self.pid, 0)
        if died is not None:
            # The case has no verdict any more. So it does no harm if a program of the kit is ended
            # by mistake.
            orphans.end_all(self._mark, partial(procs.adopted, died.starttime, self._open))
        os.close(self._report.fd)
        self.pid = 0
