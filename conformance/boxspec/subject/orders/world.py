"""Run the implementation and its children under the tracer, with their events in a chosen order.

The processes of a world run one at a time. A thread of the implementation stops at each system call
of calls.py. A child is a `puppet` (fixtures/programs/puppet.c), which stops before each of its
actions. At a stop the world offers a decision: one of the events that are possible now, or the
system call.

The implementation reads the clock of the order. The driver makes a wait without its time limit. If
no descriptor is ready, the implementation is blocked, and only an event or the end of its limit
resumes it. So five seconds of grace take no time, and the load of the machine cannot matter.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from boxspec.subject.observe.procs import Status
from boxspec.subject.orders import calls, ptrace
from boxspec.subject.orders.clock import MS
from boxspec.subject.orders.task import (
    Event,
    Line,
    Note,
    Task,
    in_words,
    pending,
    state_of,
)
from boxspec.subject.orders.tracer import Tracer
from boxspec.subject.orders.waits import Waits

HOLD = 0x70757070
# Both signals also wake a stopped process or are ignored by default, so no event delivers them.
QUIET = frozenset({signal.SIGCONT, signal.SIGCHLD})
MOST_STEPS = 40_000
MOST_TIME_MS = 60_000


class NotForced(Exception):
    """The order cannot be forced; the message says why."""


# Takes the number of the decision, the events, and the one that happens without a choice.
Decide = Callable[[int, Sequence[Event], Event | None], Event | None]


class World(Tracer):
    def __init__(
        self,
        argv: Sequence[str],
        request: str,
        response: str,
        puppet: str,
        *,
        caller_signals: Sequence[str] = (),
        deadline_ms: int | None = None,
    ) -> None:
        super().__init__([*argv, "run", request, response])
        self.waits = Waits(self)
        self.lines: list[Line] = []
        self.notes: list[Note] = []
        self.decisions = 0
        self.steps = 0
        self.request, self.response = request, response
        self.puppet = os.path.realpath(puppet)
        self.answers = os.path.join(os.path.dirname(response), "")  # noqa: PTH118, PTH120
        self.begun = self.answered = False
        self.signals_left = list(caller_signals)
        self.deadline_ms = deadline_ms
        self.deadline_at: int | None = None
        self.leader = 0
        self.collected: set[int] = set()
        self.exit_status: int | None = None
        self.hung: str | None = None
        self.last: Task | None = None
        self.handlers: dict[int, int] = {}
        self.batch = 0

    # ---- The loop ----

    def run(self, decide: Decide) -> None:
        """Run until the implementation has exited."""
        try:
            while self.exit_status is None and self.hung is None:
                self.settle()
                if self.exit_status is not None:
                    break
                self._turn(decide)
        finally:
            self._end()

    def _turn(self, decide: Decide) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS or self.clock.now > MOST_TIME_MS * MS:
            self.hung = "it did not return"
            return
        for task in self.tasks.values():
            if task.state == "exit" and task.then is not None:
                then, task.then = task.then, None
                then()
                return
        actor = self._actor()
        if actor is not None:
            # Without this, an implementation that polls in a loop would get no event by itself.
            spins = self.clock.polled
            if not (self._is_point(actor) and self._decide(decide, blocked=False, usual=spins)):
                self._step(actor)
            return
        if self.waits.probe_stale():
            return
        if not self._decide(decide, blocked=True, usual=True):
            self.hung = "it waits, and nothing is left that could end its wait"

    def _decide(self, decide: Decide, *, blocked: bool, usual: bool) -> bool:
        """Offer the events. True if one happened.

        Before a blocked implementation notices an event, more events may happen: it finds them at
        once.
        """
        self.batch += 1
        if blocked:
            self._note("waits", alive=[task.name for task in self.members()])
        if not self._offer(decide, usual=usual):
            return False
        while blocked and self._offer(decide, usual=False):
            pass
        self.waits.probe(list(self.tasks.values()))
        return True

    def _offer(self, decide: Decide, *, usual: bool) -> bool:
        """Let one event happen. usual: the first event happens unless another one is chosen."""
        events = list(self._events(waits=usual and not self._actor()))
        if not events or self.exit_status is not None:
            return False
        number = self.decisions
        self.decisions += 1
        event = decide(number, events, events[0] if usual else None)
        if event is None:
            return False
        self.lines.append(Line(self.clock.now, "event", event.text, number))
        self.clock.reads = 0
        event.fire()
        self.settle()
        return True

    def _actor(self) -> Task | None:
        """Return the thread that goes on: the last one while it can, else the oldest."""
        ready = [
            task
            for task in self.tasks.values()
            if task.kind != "puppet" and task.state == "held" and not task.blocked
        ]
        if self.last in ready:
            return self.last
        self.last = ready[0] if ready else None
        return self.last

    def _is_point(self, actor: Task) -> bool:
        if not self.begun or self.answered or actor.probing:
            return False
        if actor.regs.orig_rax in (calls.READ, calls.WRITE):
            return self._link(actor).startswith(("pipe:", "anon_inode:", "socket:"))
        if actor.regs.orig_rax == calls.OPENAT:
            return self._path(actor).startswith("/proc")
        return actor.regs.orig_rax not in (calls.PRCTL, calls.RT_SIGACTION, calls.GETDENTS64) or (
            actor.regs.orig_rax == calls.RT_SIGACTION
            and actor.regs.rdi in (signal.SIGINT, signal.SIGTERM)
            and actor.regs.rsi != 0
        )

    def _is_trivial(self, task: Task) -> bool:
        """True for a call that neither is a point of decision nor needs the driver."""
        number = task.regs.orig_rax
        if number == calls.WRITE:
            return not self._is_point(task)
        if number == calls.READ:
            return not (self._is_point(task) or self._stat_of(task))
        if number == calls.GETDENTS64:
            return self._link(task) != "/proc"
        if number == calls.OPENAT:
            path = self._path(task)
            return not path.startswith(("/proc", os.path.dirname(self.request)))  # noqa: PTH120
        if number == calls.RT_SIGACTION:
            return not self._is_point(task)
        return number == calls.PRCTL

    # ---- Events ----

    def _events(self, *, waits: bool) -> Iterator[Event]:
        for task in self.tasks.values():
            if task.kind == "puppet" and task.state == "puppet":
                yield from self._puppet_events(task)
        for name in self.signals_left[:1]:
            if self.handlers and not self.answered:
                yield Event(name, f"the caller receives SIG{name}", partial(self._signal, name))
        yield from self._time_events(waits=waits)

    def _puppet_events(self, task: Task) -> Iterator[Event]:
        signals = pending(task, "SigBlk", "SigIgn") - QUIET
        if signals:
            name = signal.Signals(min(signals)).name
            yield Event(
                f"{task.name}~{name[3:]}",
                f"{name} is delivered to {task.name}",
                lambda: self.resume(task),
            )
        elif task.action != "wait":
            yield Event(
                task.name, f"{task.name}: {in_words(task.action)}", lambda: self._release(task)
            )

    def _time_events(self, *, waits: bool) -> Iterator[Event]:
        """The end of the next limit. If the implementation does not wait, it is a delay."""
        wakes = [task.wake for task in self.tasks.values() if task.blocked and task.wake]
        if not wakes and not self._actor():
            return
        due = wakes or [self.deadline_at or 0, self.waits.last_wake or 0]
        ahead = [at for at in due if at > self.clock.now]
        if ahead:
            at = min(ahead)
            ms = (at - self.clock.now + MS - 1) // MS
            yield Event("time", f"{ms:,} ms pass", partial(self._pass, at, blocked=waits))

    def _pass(self, until: int, *, blocked: bool) -> None:
        ms = (until - self.clock.now) // MS
        self.clock.now = max(self.clock.now, until)
        self._note("time", ms=ms, blocked=blocked)

    def _signal(self, name: str) -> None:
        self.signals_left.pop(0)
        number = signal.Signals["SIG" + name]
        # Each handler is installed once and restored once. A held sigaction comes before the
        # delivery.
        changes = self.handlers.get(number, 0) + any(
            task.state == "held"
            and task.pid == self.root
            and (task.regs.orig_rax, task.regs.rdi) == (calls.RT_SIGACTION, number)
            for task in self.tasks.values()
        )
        self._note("signal", signal=number, handled=changes % 2 == 1)
        os.kill(self.root, number)

    def _release(self, task: Task) -> None:
        self._note("action", task=task, action=task.action, name=task.name)
        self.skip(task, 1)
        self.resume(task)

    # ---- Steps of the implementation ----

    def _step(self, task: Task) -> None:
        """Let a held thread make its system call and go on to the next one."""
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
            if number == calls.OPENAT and task.pid == self.root:
                self._opened(self._path(task))
            self.resume(task)

    def _opened(self, path: str) -> None:
        if path == self.request and not self.begun:
            self.begun = True
            self.clock.reads = 0
            self._note("begins", masks=self._dispositions())
        elif self.begun and not self.answered and path.startswith(self.answers):
            self.answered = True
            self._note("answers", masks=self._dispositions())

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
        if number in (calls.TKILL, calls.TGKILL) and own:
            self.resume(task)
            return
        self._note("send", target=target, signal=int(signo), alive=alive, by=task.kind)
        self.to_exit(task)
        self.resume_from_exit(task)
        if signo:
            self._await_kills()

    def _pid_of_pidfd(self, task: Task) -> int:
        info = Path(f"/proc/{task.pid}/fdinfo/{task.regs.rdi & 0xFFFFFFFF}").read_text()
        found = re.search(r"^Pid:\s*(-?\d+)", info, re.M)
        return int(found[1]) if found else 0

    def _await_kills(self) -> None:
        """Wait until each puppet that was sent SIGKILL, or that is stopped, has done its part."""
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

        # It may wait for long, while other threads and children go on.
        task.then, task.wants_exit = collect, True
        ptrace.call(ptrace.SYSCALL, self._running(task).tid)

    def _is_dead(self, pid: int) -> bool:
        return pid in self.tasks and self.tasks[pid].state == "dead"

    def _stat_of(self, task: Task) -> int:
        """Return the process of the world whose /proc/PID/stat a held read is for, or 0."""
        found = re.fullmatch(r"/proc/(\d+)/stat", self._link(task))
        pid = int(found[1]) if found else 0
        return pid if pid in self.tasks else 0

    def _read_stat(self, task: Task) -> None:
        """Give the processes of the world a start time on the clock of the order."""
        born = self.tasks[self._stat_of(task)].born
        at = task.regs.rsi
        result = self.to_exit(task)
        if result > 0:
            head, mark, rest = ptrace.read_memory(task.pid, at, result).rpartition(b") ")
            fields = rest.split(b" ")
            ticks = (self.clock.base[time.CLOCK_BOOTTIME] + born) // 10_000_000
            width = len(fields[19])
            fields[19] = str(ticks).zfill(width).encode()[-width:]
            ptrace.write_memory(task.pid, at, head + mark + b" ".join(fields))
        self.resume_from_exit(task)

    def _list_proc(self, task: Task) -> None:
        """Leave the processes that do not belong to the world out of a listing of /proc."""
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

    # ---- Stops ----

    def _deliver(self, task: Task, signo: int) -> None:
        name = signal.Signals(signo).name if signo < 32 else f"signal {signo}"
        if signo not in QUIET and task.kind == "puppet":
            self._note("delivered", task=task, signal=signo)
        elif signo not in QUIET and self.begun:
            self.lines.append(
                Line(self.clock.now, task.name, f"{name} is delivered to a thread of it")
            )
        self._go(task, signo)

    def _at_call(self, task: Task) -> None:
        task.regs = ptrace.get_regs(task.tid)
        task.wants_exit = False
        if task.kind != "puppet":
            task.state = "held"
            if task.regs.orig_rax in calls.CLOCKS:
                self._answer_clock(task)
            elif self._is_trivial(task):
                self.resume(task)
        elif task.regs.orig_rax == calls.PRCTL and task.regs.rdi == HOLD:
            task.state = "puppet"
            task.name = ptrace.read_text(task.pid, task.regs.rsi)
            task.action = ptrace.read_text(task.pid, task.regs.rdx)
        else:
            self.resume(task)

    def _answer_clock(self, task: Task) -> None:
        answer = self.clock.read(task.regs, begun=self.begun)
        if answer is not None:
            at, data = answer
            if at:
                ptrace.write_memory(task.pid, at, data)
            self.skip(task, 0)
        self.resume(task)

    def _born(self, task: Task) -> None:
        self._note("born", pid=task.pid, kind=task.kind)

    def _executed(self, task: Task) -> None:
        if task.kind == "shim":
            ptrace.hide_vdso(task.pid)
        elif task.kind == "spawn" and _runs(task, self.puppet):
            task.kind = "puppet"
            self.leader = self.leader or task.pid
            if self.deadline_ms is not None and self.deadline_at is None:
                self.deadline_at = self.clock.now + self.deadline_ms * MS
            self._note("starts", pid=task.pid)
        self._go(task)

    def _died(self, tid: int, status: int) -> None:
        task = self.tasks.get(tid)
        if task is None:
            return
        task.state = "dead"
        if task.tid != task.pid:
            return
        if tid == self.root:
            self.exit_status = status
            self._note("ended", alive=[each.name for each in self.members()])
        how = (
            f"is killed by {signal.Signals(os.WTERMSIG(status)).name}"
            if os.WIFSIGNALED(status)
            else f"has exited with {os.WEXITSTATUS(status)}"
        )
        if task.kind != "spawn":
            self.lines.append(Line(self.clock.now, task.name, how))
        self._note("died", task=task, pid=tid, status=status)

    # ---- Words ----

    def _describe(self, task: Task) -> None:
        number = task.regs.orig_rax
        if not self.begun or self.answered or task.probing:
            return
        text = calls.WORDS.get(number)
        if number in calls.TIMED:
            text = "waits for events"
        elif number in (calls.WAIT4, calls.WAITID):
            text = "asks how a child ended"
        elif number in (calls.READ, calls.WRITE):
            text = f"{'reads' if number == calls.READ else 'writes'} a pipe"
            if not self._is_point(task):
                return
        elif number == calls.OPENAT:
            path = self._path(task)
            if not path.startswith("/proc"):
                return
            text = "looks for processes" if path == "/proc" else "looks at a process"
        elif number == calls.RT_SIGACTION:
            if not self._is_point(task):
                return
            text = f"changes its handler of {signal.Signals(task.regs.rdi).name}"
        elif number in calls.SENDS:
            target = ptrace.signed(task.regs.rdi, 32)
            name = signal.Signals(task.regs.rsi).name if task.regs.rsi in range(1, 32) else "0"
            text = f"sends {name} to {self._name(target)}"
        if text:
            who = "implementation" if task.kind == "shim" else task.name
            self.lines.append(Line(self.clock.now, who, text))

    def _name(self, pid: int) -> str:
        if pid < 0 and -pid == self.leader:
            return "the group"
        task = self.tasks.get(abs(pid))
        return task.name if task else "a process"

    def _path(self, task: Task) -> str:
        path = ptrace.read_text(task.pid, task.regs.rsi)
        found = re.fullmatch(r"(?:/proc/)?(\d+)/stat", path)
        if found and int(found[1]) not in self.tasks:
            return ""
        return f"/proc/{path}" if found and not path.startswith("/") else path

    def _link(self, task: Task) -> str:
        try:
            return os.readlink(f"/proc/{task.pid}/fd/{task.regs.rdi & 0xFFFFFFFF}")  # noqa: PTH115
        except OSError:
            return ""

    # ---- Facts ----

    def _note(self, kind: str, /, **facts: object) -> None:
        self.notes.append(Note(kind, len(self.notes), self.clock.now, self.batch, facts))

    def members(self) -> list[Task]:
        """Return the members of the group of the run that have not ended."""
        found = []
        for task in self.tasks.values():
            if task.kind != "puppet" or task.tid != task.pid or task.state == "dead":
                continue
            with contextlib.suppress(ProcessLookupError):
                if os.getpgid(task.pid) == self.leader and state_of(task.pid) not in "ZX":
                    found.append(task)
        return found

    def _dispositions(self) -> dict[str, int]:
        both = 1 << (signal.SIGINT - 1) | 1 << (signal.SIGTERM - 1)
        status = Status(self.root, str(self.root))
        return {name: int(status.get(name, "0"), 16) & both for name in ("SigIgn", "SigCgt")}


def _runs(task: Task, program: str) -> bool:
    """True if a process executes this program; a shim may start others, such as an interpreter."""
    return os.path.realpath(f"/proc/{task.pid}/exe") == program
