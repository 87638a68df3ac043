"""End waits that have a time limit by the clock of the order."""

from __future__ import annotations

import time
from collections.abc import Sequence

from boxspec.subject.orders import calls, ptrace
from boxspec.subject.orders.task import Task, pending
from boxspec.subject.orders.tracer import Tracer


class Waits:
    """Makes each wait without its limit, and blocks the thread until an event or until the limit on
    the clock of the order.

    progress: the number of calls that the implementation has made.
    last_wake: the time at which the limit of the last wait ends.
    """

    def __init__(self, tracer: Tracer) -> None:
        self.tracer, self.clock = tracer, tracer.clock
        self.progress = 0
        self.last_wake: int | None = None

    def _limit(self, task: Task) -> int | None:
        timed = calls.TIMED[task.regs.orig_rax]
        value = getattr(task.regs, timed.register)
        memory = b""
        if timed.form != "ms" and value:
            memory = ptrace.read_memory(task.pid, value, 16)
        return calls.limit_ns(timed.form, value, memory)

    def sleep(self, task: Task) -> None:
        limit = self._limit(task) or 0
        if task.regs.orig_rax == calls.CLOCK_NANOSLEEP and task.regs.rsi & 1:
            limit -= self.clock.base[time.CLOCK_MONOTONIC] + self.clock.now
        self.tracer.skip(task, 0)
        self.tracer.to_exit(task)
        self._block(task, max(0, limit))

    def _block(self, task: Task, limit: int | None) -> None:
        if not task.probing:
            task.late = self.clock.now - task.read_at
        task.blocked, task.checked = True, self.progress
        task.wake = None if limit is None else self.clock.now + limit
        if task.wake:
            self.last_wake = task.wake
        if task.wake is not None and task.wake <= self.clock.now:
            self.tracer.resume_from_exit(task)

    def wait(self, task: Task) -> None:
        """Make a call with a time limit of zero. If no descriptor is ready, block the thread."""
        timed = calls.TIMED[task.regs.orig_rax]
        limit, wake = self._limit(task), task.wake
        kept = getattr(task.regs, timed.register)
        if timed.form == "ms":
            setattr(task.regs, timed.register, 0)
        else:
            place = (task.regs.rsp - 512) & ~15
            ptrace.write_memory(task.pid, place, bytes(16))
            setattr(task.regs, timed.register, place)
        ptrace.set_regs(task.tid, task.regs)
        result = self.tracer.to_exit(task)
        if task.state != "exit":
            return
        setattr(task.regs, timed.register, kept)
        if result == -516:
            # The result ERESTART_RESTARTBLOCK would make the kernel repeat the call with the limit
            # of zero. ERESTARTNOHAND makes the kernel repeat the original call.
            task.regs.rax = -514 & ((1 << 64) - 1)
        if -517 < result < -511:
            task.probing = True
        ptrace.set_regs(task.tid, task.regs)
        if result == 0 and limit != 0:
            # A repeated wait gets only the rest of its time limit.
            left = limit if wake is None else max(0, wake - self.clock.now)
            self._block(task, left)
        else:
            self.tracer.resume_from_exit(task)

    def probe_stale(self) -> bool:
        """Let threads check again whether a descriptor is ready, if they blocked before the last
        step.

        Return True if there are such threads.
        """
        stale = [
            task
            for task in self.tracer.tasks.values()
            if task.blocked and task.state == "exit" and task.checked < self.progress
        ]
        for task in stale:
            task.checked = self.progress
        self.probe(stale)
        return bool(stale)

    def probe(self, tasks: Sequence[Task]) -> None:
        """Let blocked threads make their call again. The call ends if a descriptor is ready."""
        for task in tasks:
            if not task.blocked or task.state != "exit":
                continue
            number = task.regs.orig_rax
            if number not in calls.TIMED:
                if task.wake is not None and task.wake <= self.clock.now:
                    self.tracer.resume_from_exit(task)  # a sleep that is over
                continue
            wake = task.wake
            if pending(task, "SigBlk"):
                # With ERESTARTNOHAND the call fails with EINTR if a handler runs, and is repeated
                # otherwise.
                task.regs.rax = -514 & ((1 << 64) - 1)
            else:
                task.regs.rip -= 2
                task.regs.rax = number
            ptrace.set_regs(task.tid, task.regs)
            self.tracer.resume_from_exit(task)
            self.tracer.settle()
            if task.state == "held" and task.regs.orig_rax == number:
                task.probing, task.wake = True, wake
