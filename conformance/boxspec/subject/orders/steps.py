"""Let a held thread of the implementation make its system call."""

from __future__ import annotations

import contextlib
import re
import struct
import time
from collections.abc import Sequence
from pathlib import Path

from boxspec.subject.orders import calls, ptrace
from boxspec.subject.orders.observer import Observer
from boxspec.subject.orders.task import Task, state_of
from boxspec.subject.orders.waits import Waits


class NotForced(Exception):
    """Raised if the order cannot be forced; the message says why."""


class Steps(Observer):
    def __init__(
        self, argv: Sequence[str], request: str, response: str, puppet: str, *, adopts: bool
    ) -> None:
        super().__init__(argv, request, response, puppet, adopts=adopts)
        self.waits = Waits(self)
        self.collected: set[int] = set()
        # For each signal, how often the implementation has changed its handler.
        self.handlers: dict[int, int] = {}

    def _step(self, task: Task) -> None:
        """Let a held thread make its system call and continue to the next one."""
        number = task.regs.orig_rax
        self._describe(task)
        if not task.probing:
            self.waits.progress += 1
        task.probing = False
        if number in calls.KERNEL_TIMERS:
            raise NotForced(f"it uses {calls.KERNEL_TIMERS[number]}")
        if number in calls.SLEEPS:
            self.waits.sleep(task)
        elif number in calls.TIMED:
            self.waits.wait(task)
        elif number in calls.SENDS:
            self._send(task)
        elif number in (calls.WAIT4, calls.WAITID):
            self._wait(task)
        elif number == calls.READ and self._stat_of(task):
            self._read_stat(task)
        elif number == calls.GETDENTS64:
            self._list_proc(task)
        elif number == calls.RT_SIGACTION:
            if self._is_point(task) and task.pid == self.root:
                self.handlers[task.regs.rdi] = self.handlers.get(task.regs.rdi, 0) + 1
            self.resume(task)
        else:
            if number == calls.EXIT_GROUP and task.pid == self.root:
                self._note("exits", masks=self._dispositions())
            # The process that reads the request need not be the first one: a shell may let a child
            # read it.
            if number == calls.OPENAT and (task.pid == self.root or not self.begun):
                self._opened(self._path(task))
            if number in calls.WAKES:
                self._wake(task)
            else:
                self.resume(task)

    def _wake(self, task: Task) -> None:
        """Make a call that may wake another thread or wait for one.

        The thread is held again at the end of the call.
        """
        task.then, task.wants_exit = lambda: self.resume_from_exit(task), True
        self.go_on(task, ptrace.SYSCALL)

    def _opened(self, path: str) -> None:
        if path == self.request and not self.begun:
            self.begun = True
            self.clock.reads = 0
            self._note("begins", masks=self._dispositions())
        elif path.startswith(self.answers):
            self.opened_answer = True

    def _send(self, task: Task) -> None:
        number, regs = task.regs.orig_rax, task.regs
        target = ptrace.signed(regs.rdi, 32)
        signo = regs.rsi
        if number == calls.TGKILL:
            target, signo = ptrace.signed(regs.rsi, 32), regs.rdx
        if number == calls.PIDFD_SEND_SIGNAL:
            group = bool(regs.r10 & 4)
            target = self._pid_of_pidfd(task)
            target = -target if group else target
        alive = [each.name for each in self.members()]
        own = target > 0 and target in self.tasks and self.tasks[target].pid == task.pid
        # A runtime may end itself by a signal that it does not handle. Such a call never
        # returns, so its end is not awaited.
        if number in (calls.KILL, calls.TKILL, calls.TGKILL) and own:
            self.resume(task)
            return
        self._note("send", target=target, signal=int(signo), alive=alive, by=task.kind)
        self.to_exit(task)
        # The sender continues only after the effect of the signal, so that the two do not race.
        if signo:
            self._await_kills()
        self.resume_from_exit(task)

    def _pid_of_pidfd(self, task: Task) -> int:
        info = Path(f"/proc/{task.pid}/fdinfo/{task.regs.rdi & 0xFFFFFFFF}").read_text()
        found = re.search(r"^Pid:\s*(-?\d+)", info, re.M)
        return int(found[1]) if found else 0

    def _await_kills(self) -> None:
        """Wait until each puppet that is stopped or was sent SIGKILL has reacted."""
        for task in list(self.tasks.values()):
            if task.kind == "puppet" and task.state in ("puppet", "stopped"):
                with contextlib.suppress(OSError):
                    if state_of(task.tid) not in "tT":
                        task.state = "runs"
        self.settle()

    def _wait(self, task: Task) -> None:
        regs = task.regs
        options = regs.rdx if regs.orig_rax == calls.WAIT4 else regs.r10
        target = ptrace.signed(regs.rdi if regs.orig_rax == calls.WAIT4 else regs.rsi, 32)
        by_pid = regs.orig_rax == calls.WAIT4 or regs.rdi == 1
        keeps = bool(options & 0x01000000)
        number, info = regs.orig_rax, regs.rdx
        if by_pid and target in self.collected and not keeps:
            self._note("collects again", pid=target)

        def collect() -> None:
            pid = task.regs.result
            if number == calls.WAITID:
                pid = 0
                if task.regs.result == 0 and info:
                    pid = struct.unpack("<i", ptrace.read_memory(task.pid, info + 16, 4))[0]
            if pid > 0 and not keeps and self._is_dead(pid):
                self.collected.add(pid)
                self._note("collects", pid=pid, name=self._name(pid))
            self.resume_from_exit(task)

        # The end of the call is not awaited: the call may block while other threads and children
        # continue.
        task.then, task.wants_exit = collect, True
        self.go_on(task, ptrace.SYSCALL)

    def _is_dead(self, pid: int) -> bool:
        return pid in self.tasks and self.tasks[pid].state == "dead"

    def _read_stat(self, task: Task) -> None:
        """Answer a read of /proc/PID/stat so that the driver stays invisible.

        The start time is given on the clock of the order. The state does not show that a tracer has
        stopped the process.
        """
        shown = self.tasks[self._stat_of(task)]
        at = task.regs.rsi
        result = self.to_exit(task)
        if result > 0:
            head, mark, rest = ptrace.read_memory(task.pid, at, result).rpartition(b") ")
            fields = rest.split(b" ")
            ticks = (self.clock.base[time.CLOCK_BOOTTIME] + shown.born) // 10_000_000
            if fields[0] == b"t":
                fields[0] = b"T" if shown.state == "stopped" else b"S"
            width = len(fields[19])
            fields[19] = str(ticks).zfill(width).encode()[-width:]
            ptrace.write_memory(task.pid, at, head + mark + b" ".join(fields))
        self.resume_from_exit(task)

    def _list_proc(self, task: Task) -> None:
        """Remove from a listing of /proc the processes that do not belong to the run."""
        at = task.regs.rsi
        result = self.to_exit(task)
        if task.state != "exit":
            return
        if result > 0:
            kept, rest = b"", ptrace.read_memory(task.pid, at, result)
            while rest:
                size = struct.unpack_from("<H", rest, 16)[0]
                name = rest[19:size].partition(b"\0")[0]
                if not name.isdigit() or int(name) in self.tasks:
                    kept += rest[:size]
                rest = rest[size:]
            if kept:
                ptrace.write_memory(task.pid, at, kept)
                task.regs.rax = len(kept)
                ptrace.set_regs(task.tid, task.regs)
        self.resume_from_exit(task)
