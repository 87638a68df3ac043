"""Record the actions of the processes of a run, at each of their stops.

A thread of the implementation is held at a system call of calls.py if the call is a point of
decision or needs the driver. A puppet is held before each of its actions.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Sequence

from boxspec.subject.observe.procs import Status
from boxspec.subject.orders import calls, ptrace
from boxspec.subject.orders.task import Line, Note, Task, state_of
from boxspec.subject.orders.tracer import Tracer

HOLD = 0x70757070
# SIGCONT takes effect at once, and SIGCHLD is ignored by default. So no separate event delivers
# these signals.
QUIET = frozenset({signal.SIGCONT, signal.SIGCHLD})
# Threads are held at these calls because the driver needs them. They are not points of decision.
NO_POINTS = frozenset(
    {calls.PRCTL, calls.RT_SIGACTION, calls.GETDENTS64, calls.FUTEX, calls.SCHED_YIELD}
)


class Observer(Tracer):
    """Records a run.

    lines: the trace for people.
    notes: the facts for the laws.
    leaders: the puppets that the implementation started; each leads a group.
    """

    def __init__(
        self, argv: Sequence[str], request: str, response: str, puppet: str, *, adopts: bool
    ) -> None:
        super().__init__([*argv, "run", request, response], adopts=adopts)
        self.lines: list[Line] = []
        self.notes: list[Note] = []
        self.batch = 0
        self.request = request
        self.answers = os.path.join(os.path.dirname(response), "")  # noqa: PTH118, PTH120
        self.puppet = os.path.realpath(puppet)
        self.begun = self.has_child = self.opened_answer = self.answered = False
        self.leaders: list[int] = []
        self.exit_status: int | None = None

    # ---- Facts ----

    def _note(self, kind: str, /, **facts: object) -> None:
        self.notes.append(Note(kind, len(self.notes), self.clock.now, self.batch, facts))

    def members(self) -> list[Task]:
        """Return the members of the groups of the run that have not ended.

        If the implementation has given a child no group of its own, the child is a member too.
        """
        found = []
        for task in self.tasks.values():
            if task.kind != "puppet" or task.tid != task.pid or task.state == "dead":
                continue
            with contextlib.suppress(ProcessLookupError):
                belongs = not {task.pid, os.getpgid(task.pid)}.isdisjoint(self.leaders)
                if belongs and state_of(task.pid) not in "ZX":
                    found.append(task)
        return found

    def _dispositions(self) -> dict[str, int]:
        both = 1 << (signal.SIGINT - 1) | 1 << (signal.SIGTERM - 1)
        status = Status(self.root, str(self.root))
        return {name: int(status.get(name, "0"), 16) & both for name in ("SigIgn", "SigCgt")}

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
            if task.regs.orig_rax == calls.WRITE and self.opened_answer:
                self._writes(task)
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

    def _writes(self, task: Task) -> None:
        """Note the answer at its first byte: some shims open the file of the answer before the
        run."""
        if not self.answered and task.pid == self.root:
            self.answered = self._link(task).startswith(self.answers)
            if self.answered:
                self._note("answers", masks=self._dispositions())

    def _answer_clock(self, task: Task) -> None:
        answer = self.clock.read(task.regs, has_child=self.has_child)
        if answer is not None:
            at, data = answer
            if at:
                ptrace.write_memory(task.pid, at, data)
            self.skip(task, 0)
            task.read_at = self.clock.now
        self.resume(task)

    def _born(self, task: Task) -> None:
        self.has_child = self.has_child or self.begun
        self._note("born", pid=task.pid, kind=task.kind)

    def _executed(self, task: Task) -> None:
        if task.kind == "shim":
            ptrace.settle_start(task.pid)
        elif task.kind == "spawn" and _runs(task, self.puppet):
            task.kind = "puppet"
            self.leaders.append(task.pid)
            self._note("starts", pid=task.pid, cwd=os.readlink(f"/proc/{task.pid}/cwd"))  # noqa: PTH115
        self._go(task)

    def _died(self, tid: int, status: int) -> None:
        task = self.tasks.get(tid)
        # The kernel may report the end of an adopted orphan twice to the driver: as its tracer, and
        # as its parent.
        if task is None or task.state == "dead":
            return
        task.state = "dead"
        if task.tid != task.pid:
            return
        if tid == self.root:
            self.exit_status = status
            folders = [note.facts["cwd"] for note in self.notes if note.kind == "starts"]
            self._note(
                "ended",
                alive=[each.name for each in self.members()],
                folders=[path for path in folders if os.path.isdir(path)],  # noqa: PTH112
            )
        how = (
            f"is killed by {signal.Signals(os.WTERMSIG(status)).name}"
            if os.WIFSIGNALED(status)
            else f"has exited with {os.WEXITSTATUS(status)}"
        )
        if task.kind != "spawn":
            self._add_death(Line(self.clock.now, task.name, how))
        self._note("died", task=task, pid=tid, status=status)

    def _add_death(self, line: Line) -> None:
        """Add a line about a death. One SIGKILL ends several members in an arbitrary order, so the
        lines are sorted by name."""
        at = len(self.lines)
        while at and self.lines[at - 1].text == line.text and self.lines[at - 1].who > line.who:
            at -= 1
        self.lines.insert(at, line)

    def _is_point(self, actor: Task) -> bool:
        if not self.begun or self.answered or actor.probing:
            return False
        if actor.regs.orig_rax in (calls.READ, calls.WRITE):
            return self._link(actor).startswith(("pipe:", "anon_inode:", "socket:"))
        if actor.regs.orig_rax == calls.OPENAT:
            return self._path(actor).startswith("/proc")
        return actor.regs.orig_rax not in NO_POINTS or (
            actor.regs.orig_rax == calls.RT_SIGACTION
            and actor.regs.rdi in (signal.SIGINT, signal.SIGTERM)
            and actor.regs.rsi != 0
        )

    def _is_trivial(self, task: Task) -> bool:
        """True for a call that is no point of decision and does not need the driver."""
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

    def _stat_of(self, task: Task) -> int:
        """Return the PID if the held call reads /proc/PID/stat of a process of the run, else 0."""
        found = re.fullmatch(r"/proc/(\d+)/stat", self._link(task))
        pid = int(found[1]) if found else 0
        return pid if pid in self.tasks else 0

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
            target, signo = task.regs.rdi, task.regs.rsi
            if number == calls.TGKILL:
                target, signo = signo, task.regs.rdx
            target = ptrace.signed(target, 32)
            name = signal.Signals(signo).name if signo in range(1, 32) else "0"
            text = f"sends {name} to {self._name(target)}"
        if text:
            self.lines.append(Line(self.clock.now, task.who, text))

    def _name(self, pid: int) -> str:
        task = self.tasks.get(abs(pid))
        if pid < 0 and -pid in self.leaders:
            return f"the group of {task.name}" if len(self.leaders) > 1 and task else "the group"
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


def _runs(task: Task, program: str) -> bool:
    """True if the process executes this program, and not for example an interpreter that the shim
    starts."""
    return os.path.realpath(f"/proc/{task.pid}/exe") == program
