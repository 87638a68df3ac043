"""What a question costs the shim: processor time of its processes, the least of several tries.

No try repeats an earlier one: what was kept of an answer would hide what the answer costs.
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
# Below this the clock and the wake-up are most of what is measured.
WORTH_MS = 1.5
MOST = 256
# The time of children that have ended is told in whole ticks, which may be one off at either end.
TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
WORTH_IN_TICKS_MS = 10 * TICK_MS

# How often it is asked at once, how large the input is, and what makes rules and paths new ones.
Question = Callable[[int, int, str], object]

_MARKS = itertools.count()


@dataclass(frozen=True)
class Spent:
    ms: float
    # The part of it that ended children have, in ticks.
    ended_ms: float = 0

    def __sub__(self, before: Spent) -> Spent:
        return Spent(self.ms - before.ms, self.ended_ms - before.ended_ms)


def cpu_ms(pid: int) -> float:
    """Processor time of another process: it does not grow with the load of the machine."""
    # What clock_getcpuclockid(3) makes of a pid.
    clock = (~pid << 3) | 2
    return time.clock_gettime_ns(clock) / 1e6


def spent(pid: int) -> Spent:
    """So far, by a process and by what it has started, the ended ones too."""
    ms, ended = cpu_ms(pid), procs.ended_children_ms(pid)
    for child in procs.tree(pid):
        try:
            ms += cpu_ms(child.pid)
        except OSError:
            # It has gone since, and stands among the ended ones the next time.
            continue
        ended += procs.ended_children_ms(child.pid)
    return Spent(ms + ended, ended)


def cost(case: Case, question: Question, times: int, size: int, repeats: int = REPEATS) -> Spent:
    """The least of several tries."""
    tries = []
    for _ in range(repeats):
        mark = f"{next(_MARKS):07}"
        pid = case.session.serve().shim_pid
        before = spent(pid)
        question(times, size, mark)
        tries.append(spent(pid) - before)
    return min(tries, key=lambda each: each.ms)


def doubled(case: Case, question: Question) -> tuple[float, float]:
    """The milliseconds of a question, and of the same one with an input twice as large.

    It is asked so often in one request that the cost can be measured.
    """
    times = 1
    while times < MOST and not _can_be_measured(cost(case, question, times, 1, 1)):
        times *= 4
    once, twice = cost(case, question, times, 1), cost(case, question, times, 2)
    doubt = 2 * TICK_MS if once.ended_ms or twice.ended_ms else 0
    return once.ms, max(0.0, twice.ms - doubt)


def _can_be_measured(least: Spent) -> bool:
    return least.ms >= (WORTH_IN_TICKS_MS if least.ended_ms else WORTH_MS)
