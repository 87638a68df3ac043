"""What a question costs the shim: processor time of its process, the least of several tries."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boxspec.target.case import Box

REPEATS = 3
# Below this the clock and the wake-up are most of what is measured.
WORTH_MS = 1.5
MOST = 256


def cpu_ms(pid: int) -> float:
    """Processor time of another process: it does not grow with the load of the machine."""
    # What clock_getcpuclockid(3) makes of a pid.
    clock = (~pid << 3) | 2
    return time.clock_gettime_ns(clock) / 1e6


def cost_ms(box: Box, question: Callable[[], object], repeats: int = REPEATS) -> float:
    """The least of several tries."""
    tries = []
    for _ in range(repeats):
        pid = box.session.serve().shim_pid
        before = cpu_ms(pid)
        question()
        tries.append(cpu_ms(pid) - before)
    return min(tries)


def doubled(box: Box, question: Callable[[int, int], object]) -> tuple[float, float]:
    """The cost of `question(times, 1)` and of `question(times, 2)`, the input twice as large.

    `times` is how often it is asked in one request: so often that the cost can be measured.
    """
    times = 1
    while times < MOST and cost_ms(box, partial(question, times, 1), 1) < WORTH_MS:
        times *= 4
    return cost_ms(box, partial(question, times, 1)), cost_ms(box, partial(question, times, 2))
