"""Describe the threads and events of a traced run, and read the state of a thread in /proc."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boxspec.subject.observe import procs
from boxspec.subject.orders import ptrace


@dataclass
class Task:
    """A thread of the implementation or of a puppet."""

    tid: int
    pid: int
    kind: str  # "shim", "spawn" (a child before its exec) or "puppet"
    state: str = "runs"  # "runs", "new", "held", "exit", "puppet", "stopped" or "dead"
    name: str = ""
    regs: ptrace.Regs = field(default_factory=ptrace.Regs)
    wants_exit: bool = False
    in_vfork: bool = False
    blocked: bool = False
    wake: int | None = None  # time of the order at which its wait ends
    read_at: int = 0  # time of the thread's last clock read
    late: int = 0  # time between the thread's last clock read and its wait after that
    probing: bool = False  # True while a wait is only repeated, which is no new decision point
    checked: int = 0  # value of Waits.progress when this thread was last checked
    then: Callable[[], None] | None = None  # called when the system call of the thread ends
    action: str = ""
    born: int = 0

    @property
    def who(self) -> str:
        """Return the name of the thread for people."""
        if self.kind != "shim":
            return self.name
        return "implementation" if self.tid == self.pid else f"implementation, {self.name}"


@dataclass(frozen=True)
class Event:
    """Something that the driver can make happen now."""

    id: str
    text: str
    fire: Callable[[], None]


@dataclass
class Line:
    """A line of the trace."""

    at: int  # time of the order, ns since the start
    who: str
    text: str
    decision: int | None = None


@dataclass
class Note:
    """A fact for the laws: kind, number, time and details.

    batch: the implementation notices all facts with the same batch number at once.
    """

    kind: str
    step: int
    at: int
    batch: int
    facts: dict[str, Any]


def in_words(action: str) -> str:
    word, _, rest = action.partition(":")
    return {
        "out": f"writes {len(rest)} bytes to stdout",
        "err": f"writes {len(rest)} bytes to stderr",
        "read": f"reads {rest} bytes of stdin",
        "close": f"closes descriptor {rest}",
        "ignore": f"ignores SIG{rest}",
        "on": f"handles SIG{rest.partition(':')[0]}",
        "fork": f"starts {rest}",
        "setsid": "leaves the group",
        "stop": "stops itself",
        "at": f"goes on after {rest} ms",
        "die": f"ends by SIG{rest}",
        "exit": f"exits with {rest}",
    }.get(word, action)


def ends(action: str) -> bool:
    """True if this action ends a puppet."""
    return action.partition(":")[0] in ("exit", "die")


def due_at(action: str) -> int:
    """Return the time in ms before which a puppet may not do an action."""
    word, _, rest = action.partition(":")
    return int(rest) if word == "at" else 0


def state_of(tid: int) -> str:
    text = Path(f"/proc/{tid}/stat").read_bytes()
    at = text.rindex(b")") + 2
    return chr(text[at])


def sleeps(task: Task) -> bool:
    """True if a running thread sleeps in the kernel, so that only another thread can wake it."""
    try:
        state = state_of(task.tid)
        if state == "S":
            # The state alone is not enough: an interrupted thread may show it in the middle of a
            # call. If a thread is on a processor, this file contains `running`.
            return Path(f"/proc/{task.tid}/syscall").read_text().strip() != "running"
    except OSError:
        return False
    return state == "Z" or (state == "D" and task.in_vfork)


def pending(task: Task, *without: str) -> set[int]:
    """Return the signals that are pending for a thread or its process.

    without: names of masks in /proc, such as SigBlk. The signals in these masks are left out.
    """
    status = procs.Status(task.pid, str(task.tid))
    left_out = (status.mask(name) for name in without)
    return (status.mask("SigPnd") | status.mask("ShdPnd")).difference(*left_out)


def thread_group(tid: int) -> int:
    return int(procs.Status(tid, str(tid)).get("Tgid", tid))
