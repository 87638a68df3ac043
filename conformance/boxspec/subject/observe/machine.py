"""Compute an upper limit of the scheduling delay in a period, from the counters of the machine.

The kernel forgets the waiting time of a thread or a helper process when it ends. But no thread
waits while a processor is idle, so the time without an idle processor is an upper limit.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from boxspec.proc_lines import proc_lines

# Files of the kernel (PSI) that say how long processes have waited for I/O and for memory.
PRESSURE = tuple(Path("/proc/pressure") / name for name in ("io", "memory"))
TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL = range(8)


@dataclass(frozen=True)
class Machine:
    """Counters of the processors that this process may use, at one moment."""

    t_ns: int
    processors: int
    idle_ns: int
    stolen_ns: int
    throttled_ns: int
    stalled_ns: int = 0

    @classmethod
    def now(cls) -> Machine:
        idle = stolen = count = 0
        allowed = os.sched_getaffinity(0)
        for number, fields in _processors():
            if number in allowed:
                count += 1
                idle += fields[IDLE] + fields[IOWAIT]
                stolen += fields[STEAL] if len(fields) > STEAL else 0
        return cls(
            time.monotonic_ns(),
            count,
            idle * TICK_NS,
            stolen * TICK_NS,
            _throttled_us() * 1000,
            sum(map(stalled_us, PRESSURE)) * 1000,
        )

    def stolen_since(self, before: Machine) -> int:
        """Return for how many ns the hypervisor withheld the processors of this virtual machine."""
        return max(0, self.stolen_ns - before.stolen_ns)

    def stalled_since(self, before: Machine) -> int:
        """Return for how many ns every process that could run waited for I/O or for memory.

        The kernel does not count this time as waiting for a processor.
        """
        return max(0, self.stalled_ns - before.stalled_ns)

    def busy_since(self, before: Machine) -> int:
        """Return for how many ns at most no processor was free, or the control group was
        throttled."""
        length = self.t_ns - before.t_ns
        throttled = max(0, self.throttled_ns - before.throttled_ns)
        if not self.processors:
            return length
        # The counters count whole ticks, so up to one tick of idle time may be missing.
        idle = max(0, self.idle_ns - before.idle_ns - TICK_NS * self.processors)
        return min(length, max(0, length - idle // self.processors) + throttled)

    def free_since(self, before: Machine) -> float:
        """Return the share of idle time of all processors; 0 if the control group was throttled."""
        length = (self.t_ns - before.t_ns) * self.processors
        if length <= 0 or self.throttled_ns > before.throttled_ns:
            return 0.0
        return (self.idle_ns - before.idle_ns) / length


def _processors() -> list[tuple[int, list[int]]]:
    try:
        text = Path("/proc/stat").read_text(encoding="ascii")
    except OSError:
        return []
    found = []
    # The first line is the sum of all processors. One line for each processor follows, then
    # interrupts.
    for line in text.splitlines()[1:]:
        name, *fields = line.split()
        if not name.startswith("cpu"):
            break
        found.append((int(name[3:]), [int(field) for field in fields]))
    return found


def stalled_us(pressure: Path) -> int:
    """Return the total of the line `full` in a file of /proc/pressure: the time in which no process
    went on. The line `some` would also count the waiting of other programs.

    Return 0 if the kernel does not count it.
    """
    try:
        text = pressure.read_text(encoding="ascii")
    except OSError:
        return 0
    found = re.search(r"^full .*total=(\d+)$", text, re.M)
    return int(found[1]) if found else 0


@cache
def _limits() -> Path:
    """Return the file with the processor limits of the control group of this process (cgroup
    v2)."""
    try:
        groups = proc_lines(Path("/proc/self/cgroup").read_bytes())
    except OSError:
        groups = []
    own = next((line[3:] for line in groups if line.startswith("0::")), "/")
    return Path("/sys/fs/cgroup") / own.lstrip("/") / "cpu.stat"


def _throttled_us() -> int:
    try:
        text = _limits().read_text(encoding="ascii")
    except OSError:
        return 0
    found = re.search(r"^throttled_usec (\d+)$", text, re.M)
    return int(found[1]) if found else 0
