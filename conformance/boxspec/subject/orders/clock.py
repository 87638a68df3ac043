"""The clock of an order. It answers the clock reads of the implementation."""

from __future__ import annotations

import struct
import time

from boxspec.subject.orders import calls, ptrace

MS = 1_000_000
MANY_READS = 2000
# For each clock id of clock_gettime(2), a clock that counts from the same start.
STARTS = {0: 0, 5: 0, 1: 1, 4: 1, 6: 1, 7: 7, 8: 0, 9: 7}


class Clock:
    """The time of an order.

    now: the time since the start in ns.
    reads: the number of clock reads since the last event.
    """

    def __init__(self) -> None:
        self.now = 0
        self.reads = 0
        self.base = {
            clock: time.clock_gettime_ns(clock)
            for clock in (time.CLOCK_REALTIME, time.CLOCK_MONOTONIC, time.CLOCK_BOOTTIME)
        }

    @property
    def polled(self) -> bool:
        """True if the implementation has read the clock very often since the last event."""
        return self.reads >= MANY_READS

    def read(self, regs: ptrace.Regs, *, has_child: bool) -> tuple[int, bytes] | None:
        """Return the answer to a clock read: where to write it, and the bytes of the time.

        Return None for a clock that only the kernel can answer.

        has_child: True if the implementation has started a child. Before that, many reads are no
            sign of a loop that waits for an event.
        """
        self.reads += has_child
        # A read takes no time, because the number of reads by the threads of a runtime differs from
        # run to run. But if the implementation reads the clock in a loop without a wait, time must
        # advance.
        self.now += MS if self.polled else 0
        clock, at = regs.rdi, regs.rsi
        if regs.orig_rax != calls.CLOCK_GETTIME:
            clock, at = time.CLOCK_REALTIME, regs.rdi
        start = STARTS.get(clock)
        if start is None or regs.orig_rax == calls.TIME:
            return None
        seconds, rest = divmod(self.base[start] + self.now, 1_000_000_000)
        if regs.orig_rax == calls.GETTIMEOFDAY:
            rest //= 1000
        return at, struct.pack("<qq", seconds, rest)
