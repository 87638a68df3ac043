"""Measure the cost of a request: the least processor time of the shim's processes in several tries.

Each try has new rules and paths, because an implementation that caches answers would hide the cost.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boxspec.subject.observe import procs

if TYPE_CHECKING:
    from boxspec.subject.case import Case

REPEATS = 3
# A shorter time would be mostly the cost of the clock and of waking up.
WORTH_MS = 1.5
MOST = 256
# The time of children that have ended is counted in whole ticks, with an error of one tick at each
# end.
TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
WORTH_IN_TICKS_MS = 10 * TICK_MS

# A function that sends a request. Its arguments: how often the input is repeated in the request,
# the size of the input, and a text to put into all names, so that no earlier request had these
# names.
Question = Callable[[int, int, str], object]

_MARKS = itertools.count()


@dataclass(frozen=True)
class Spent:
    ms: float
    # The part of `ms` that was spent by children that have ended. The kernel counts it in ticks.
    ended_ms: float = 0

    def __sub__(self, before: Spent) -> Spent:
        return Spent(self.ms - before.ms, self.ended_ms - before.ended_ms)


def cpu_ms(pid: int) -> float:
    """Return the processor time of a process. It does not depend on the load."""
    # The formula is from clock_getcpuclockid(3).
    clock = (~pid << 3) | 2
    return time.clock_gettime_ns(clock) / 1e6


def spent(pid: int) -> Spent:
    """Return the processor time of a process and its descendants, including those that have
    ended."""
    ms, ended = cpu_ms(pid), procs.ended_children_ms(pid)
    for child in procs.tree(pid):
        try:
            ms += cpu_ms(child.pid)
        except OSError:
            # The child ended during the measurement. The next measurement counts it among the ended
            # children.
            continue
        ended += procs.ended_children_ms(child.pid)
    return Spent(ms + ended, ended)


def cost(case: Case, question: Question, times: int, size: int, repeats: int = REPEATS) -> Spent:
    """Send a request several times, and return the least cost."""
    tries = []
    for _ in range(repeats):
        mark = f"{next(_MARKS):07}"
        pid = case.session.serve().shim_pid
        before = spent(pid)
        question(times, size, mark)
        tries.append(spent(pid) - before)
    return min(tries, key=lambda each: each.ms)


def doubled(case: Case, question: Question) -> tuple[float, float]:
    """Return the milliseconds of a request, and of a request with an input of twice the size.

    Each request repeats its input until the cost is large enough to be measured.
    """
    times = 1
    while times < MOST and not _can_be_measured(cost(case, question, times, 1, 1)):
        times *= 4
    once, twice = cost(case, question, times, 1), cost(case, question, times, 2)
    doubt = 2 * TICK_MS if once.ended_ms or twice.ended_ms else 0
    return once.ms, max(0.0, twice.ms - doubt)


def _can_be_measured(least: Spent) -> bool:
    return least.ms >= (WORTH_IN_TICKS_MS if least.ended_ms else WORTH_MS)
