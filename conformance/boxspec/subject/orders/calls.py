"""The system calls at which an implementation is held, with a description of each (x86-64)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from boxspec.subject.orders.ptrace import Regs

READ, WRITE, POLL, RT_SIGACTION, SELECT, NANOSLEEP = 0, 1, 7, 13, 23, 35
CLONE, FORK, VFORK, EXECVE, WAIT4, KILL, GETTIMEOFDAY, SETPGID = 56, 57, 58, 59, 61, 62, 96, 109
PRCTL, TKILL, TIME, GETDENTS64, CLOCK_GETTIME, CLOCK_NANOSLEEP, EXIT_GROUP = (
    157,
    200,
    201,
    217,
    228,
    230,
    231,
)
EPOLL_WAIT, TGKILL, WAITID, OPENAT, PSELECT6, PPOLL = 232, 234, 247, 257, 270, 271
EPOLL_PWAIT, PIDFD_SEND_SIGNAL, PIDFD_OPEN, CLONE3, EPOLL_PWAIT2 = 281, 424, 434, 435, 441
FUTEX, SCHED_YIELD = 202, 24
# The commands of futex(2) that wait (FUTEX_WAIT, FUTEX_WAIT_BITSET), and the mask for the command.
FUTEX_WAITS, FUTEX_COMMAND = (0, 9), 127
# Stands for the place at which a new thread is held. The kernel has no call of this number.
THREAD_START = 0xFFFF
SETITIMER, TIMER_SETTIME, TIMERFD_SETTIME, ALARM = 38, 223, 286, 37

# A clock read is never a point of decision: the driver answers it with the time of the order.
CLOCKS = frozenset({GETTIMEOFDAY, TIME, CLOCK_GETTIME})
SENDS = frozenset({KILL, TKILL, TGKILL, PIDFD_SEND_SIGNAL})
SLEEPS = frozenset({NANOSLEEP, CLOCK_NANOSLEEP})
# Timers of the kernel use the real clock, so their order cannot be forced.
KERNEL_TIMERS = {
    SETITIMER: "setitimer",
    TIMER_SETTIME: "timer_settime",
    TIMERFD_SETTIME: "timerfd_settime",
    ALARM: "alarm",
}

# These calls may wake another thread. Such a call must end before its own thread continues, so that
# two threads never run at once.
WAKES = frozenset({FUTEX, WRITE})

WORDS = {
    CLONE: "starts a process or thread",
    CLONE3: "starts a process or thread",
    FORK: "starts a process",
    VFORK: "starts a process",
    EXECVE: "executes a program",
    SETPGID: "makes a process group",
    PIDFD_OPEN: "opens a pidfd",
    EXIT_GROUP: "exits",
}


@dataclass(frozen=True)
class Timed:
    """How a call states its time limit: the register, and the unit or the form in memory."""

    register: str
    form: str


TIMED = {
    POLL: Timed("rdx", "ms"),
    PPOLL: Timed("rdx", "timespec"),
    SELECT: Timed("r8", "timeval"),
    PSELECT6: Timed("r8", "timespec"),
    EPOLL_WAIT: Timed("r10", "ms"),
    EPOLL_PWAIT: Timed("r10", "ms"),
    EPOLL_PWAIT2: Timed("r10", "timespec"),
    NANOSLEEP: Timed("rdi", "timespec"),
    CLOCK_NANOSLEEP: Timed("rdx", "timespec"),
}

TRACED = frozenset(
    {
        READ,
        WRITE,
        RT_SIGACTION,
        WAIT4,
        WAITID,
        PRCTL,
        OPENAT,
        GETDENTS64,
        FUTEX,
        SCHED_YIELD,
        *WORDS,
        *TIMED,
        *CLOCKS,
        *SENDS,
        *KERNEL_TIMERS,
    }
)


def waits_for_a_thread(regs: Regs) -> bool:
    """True if the call waits a short time for another thread of the process.

    This is sched_yield, or a futex with a time limit, as for the lock of an interpreter.
    """
    if regs.orig_rax == FUTEX:
        return regs.rsi & FUTEX_COMMAND in FUTEX_WAITS and regs.r10 != 0
    return bool(regs.orig_rax == SCHED_YIELD)


def limit_ns(form: str, value: int, memory: bytes) -> int | None:
    """Return the time limit of a timed call in ns; None if the call has no limit."""
    if form == "ms":
        ms = struct.unpack("<i", struct.pack("<I", value & 0xFFFFFFFF))[0]
        return None if ms < 0 else ms * 1_000_000
    if value == 0:
        return None
    seconds, rest = struct.unpack("<qq", memory)
    return int(seconds * 1_000_000_000 + rest * (1000 if form == "timeval" else 1))
