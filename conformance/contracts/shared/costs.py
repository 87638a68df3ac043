"""The costs of a wait in which nothing happens: wake-ups and processor time of the caller."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from boxspec.api import ShimProcess
from contracts.shared.moments import pass_time

# Limits for a wait of one second: 12 wake-ups and 5 % of a processor. The second limit is needed
# because a loop that never sleeps has no wake-ups. Time in which the caller waits for a processor
# does not count: on a busy machine even twelve wake-ups wait long.
COSTS = {"wakeups": 12, "cpu_ms": 50}


def costs_above_bounds(
    shim: ShimProcess[Any], ms: int, costs: Sequence[str] = tuple(COSTS)
) -> dict[str, float]:
    """Return each cost of the caller in the next `ms` that exceeds its limit, by name."""
    return costs_above_bounds_until(shim, partial(pass_time, ms), costs)


def costs_above_bounds_until(
    shim: ShimProcess[Any], wait: Callable[[], object], costs: Sequence[str] = tuple(COSTS)
) -> dict[str, float]:
    """Return each cost of the caller that exceeds its limit while `wait` waits, by name."""
    before, since_ns = {each: getattr(shim, each)() for each in costs}, time.monotonic_ns()
    wait()
    spent = {each: getattr(shim, each)() - before[each] for each in costs}
    seconds = (time.monotonic_ns() - since_ns) / 1e9 + 0.25
    return {each: found for each, found in spent.items() if found > COSTS[each] * seconds}
