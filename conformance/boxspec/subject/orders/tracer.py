"""Stop and resume the threads of one run, by ptrace."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence

from boxspec.errors import HarnessError
from boxspec.subject.observe import orphans
from boxspec.subject.orders import calls, ptrace
from boxspec.subject.orders.clock import Clock
from boxspec.subject.orders.task import Task, sleeps, thread_group

SETTLE_S = 20.0
LOOK_S = 0.0005


def _nothing() -> None:
    pass


class Tracer(ABC):
    """Traces all threads of a run. A subclass decides what each stop means."""

    def __init__(self, argv: Sequence[str], *, adopts: bool) -> None:
        self.clock = Clock()
        self.tasks: dict[int, Task] = {}
        self.strangers: set[int] = set()
        self.reaped: set[int] = set()
        # `settle` waits for SIGCHLD with sigtimedwait, so the signal must be blocked.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        # A subreaper adopts the orphans among its descendants.
        prepare = orphans.adopt if adopts else _nothing
        self.root = ptrace.start(argv, dict(os.environ), calls.TRACED, prepare)
        self.tasks[self.root] = Task(self.root, self.root, "shim", name="caller")

    @abstractmethod
    def _at_call(self, task: Task) -> None:
        """Handle a stop of a thread before a system call."""

    @abstractmethod
    def _born(self, task: Task) -> None:
        """Handle the start of a process."""

    @abstractmethod
    def _executed(self, task: Task) -> None:
        """Handle the stop after a process has executed a program."""

    @abstractmethod
    def _deliver(self, task: Task, signo: int) -> None:
        """Handle the stop before a signal is delivered to a thread."""

    @abstractmethod
    def _died(self, tid: int, status: int) -> None:
        """Handle the end of a thread."""

    def go_on(self, task: Task, how: int, signo: int = 0) -> None:
        """Continue a thread.

        The thread may have ended meanwhile, by SIGKILL or an exit of its process. Then `settle`
        reports its end.
        """
        task.state = "runs"
        with contextlib.suppress(ProcessLookupError):
            ptrace.call(how, task.tid, signo)

    def resume(self, task: Task) -> None:
        self.go_on(task, ptrace.CONT)

    def skip(self, task: Task, result: int) -> None:
        """Give a held call this result, so that the kernel does not make the call."""
        task.regs.orig_rax = (1 << 64) - 1
        task.regs.rax = result & ((1 << 64) - 1)
        ptrace.set_regs(task.tid, task.regs)

    def to_exit(self, task: Task) -> int:
        """Make the held call, stop the thread at its end, and return the result of the call."""
        task.wants_exit = True
        self.go_on(task, ptrace.SYSCALL)
        self.settle()
        return task.regs.result if task.state == "exit" else -1

    def resume_from_exit(self, task: Task) -> None:
        task.blocked, task.wake = False, None
        if task.state == "exit":
            self.resume(task)

    def settle(self) -> None:
        """Wait until every thread is at a stop or sleeps in the kernel."""
        limit = time.monotonic() + SETTLE_S
        idle = 0
        while True:
            try:
                tid, status = os.waitpid(-1, ptrace.WALL | os.WNOHANG)
            except ChildProcessError:
                return
            if tid:
                with contextlib.suppress(ProcessLookupError):
                    self._stopped(tid, status)
                idle = 0
                continue
            busy = [
                task
                for task in self.tasks.values()
                if task.state in ("runs", "new") and not sleeps(task)
            ]
            if not busy:
                idle += 1
                if idle > 1:
                    return
                continue
            idle = 0
            if time.monotonic() > limit:
                raise HarnessError(f"a traced process did not stop: {busy}")
            # A thread that stops sends SIGCHLD, which ends this wait. A thread that falls asleep
            # sends no signal, so the wait has a short limit.
            signal.sigtimedwait({signal.SIGCHLD}, LOOK_S)

    def _stopped(self, tid: int, status: int) -> None:
        task = self.tasks.get(tid)
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            self.reaped.add(tid)
            self.strangers.discard(tid)
            self._died(tid, status)
            return
        signo, event = os.WSTOPSIG(status), status >> 16
        if task is None:
            # The first stop of a new process may come before the event of its parent.
            self.tasks[tid] = Task(tid, tid, "unknown", state="new", born=self.clock.now)
            self.strangers.add(tid)
            return
        if event == ptrace.EVENT_SECCOMP:
            self._at_call(task)
        elif signo == ptrace.SYSCALL_STOP:
            self._at_exit(task)
        elif event in (ptrace.EVENT_FORK, ptrace.EVENT_VFORK, ptrace.EVENT_CLONE):
            self._forked(task, event)
        elif event == ptrace.EVENT_VFORK_DONE:
            task.in_vfork = False
            self._go(task)
        elif event == ptrace.EVENT_EXEC:
            self._executed(task)
        elif event == ptrace.EVENT_STOP and signo != signal.SIGTRAP:
            task.state = "stopped"
            ptrace.call(ptrace.LISTEN, tid)
        elif event == ptrace.EVENT_STOP:
            self.strangers.discard(tid)
            self._begin(task)
        else:
            self._deliver(task, signo)

    def _go(self, task: Task, signo: int = 0) -> None:
        self.go_on(task, ptrace.SYSCALL if task.wants_exit else ptrace.CONT, signo)

    def _begin(self, task: Task) -> None:
        """Hold a new thread of the implementation, so that only one of its threads runs."""
        if task.tid != task.pid and task.kind != "puppet" and task.state == "runs":
            task.regs.orig_rax = calls.THREAD_START
            task.state = "held"
        else:
            self._go(task)

    def _at_exit(self, task: Task) -> None:
        task.regs = ptrace.get_regs(task.tid)
        if task.wants_exit:
            task.wants_exit = False
            task.state = "exit"
        else:
            self.resume(task)

    def _forked(self, task: Task, event: int) -> None:
        try:
            self._add(task, event)
        finally:
            # The parent continues even if the child was killed meanwhile.
            self._go(task)

    def _add(self, task: Task, event: int) -> None:
        """Add the child that a task has just made."""
        tid = ptrace.event_message(task.tid)
        task.in_vfork = event == ptrace.EVENT_VFORK
        thread = event == ptrace.EVENT_CLONE and thread_group(tid) == task.pid
        pid = task.pid if thread else tid
        kind = task.kind if thread or task.kind == "puppet" else "spawn"
        new = Task(tid, pid, kind, born=self.clock.now)
        mates = sum(each.pid == pid for each in self.tasks.values())
        new.name = f"thread {mates + 1}" if thread else "a child before its program"
        if tid in self.reaped:
            new.state = "dead"
        self.tasks[tid] = new
        if not thread:
            self._born(new)
        if tid in self.strangers:
            self.strangers.discard(tid)
            self._begin(new)

    def _end(self) -> None:
        """Kill and reap all processes that are left."""
        for task in self.tasks.values():
            if task.tid == task.pid and task.state != "dead":
                with contextlib.suppress(ProcessLookupError):
                    os.kill(task.pid, signal.SIGKILL)
        limit = time.monotonic() + SETTLE_S
        while time.monotonic() < limit:
            try:
                tid, status = os.waitpid(-1, ptrace.WALL)
            except ChildProcessError:
                return
            if os.WIFSTOPPED(status):
                with contextlib.suppress(OSError):
                    ptrace.call(ptrace.CONT, tid)
