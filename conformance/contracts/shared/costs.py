"""The costs of a wait in which nothing happens: wake-ups and processor time of the caller."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from boxspec.api import Failure, Late, ShimProcess
from contracts.shared.moments import pass_time

# Limits for a wait of one second: 12 wake-ups and 5 % of a processor. The second limit is needed
# because a loop that never sleeps has no wake-ups. Time in which the caller waits for a processor
# does not count: on a busy machine even twelve wake-ups wait long.
COSTS = {"wakeups": 12, "cpu_ms": 50}
# If the caller waits for a processor for a larger share of the time, low costs prove nothing: a
# loop that never sleeps would have low costs too.
MOST_WAITED = 0.5


def costs_above_bounds(
    shim: ShimProcess[Any], ms: int, costs: Sequence[str] = tuple(COSTS)
) -> dict[str, float]:
    """Return each cost of the caller in the next `ms` that exceeds its limit, by name."""
    return costs_above_bounds_until(shim, partial(pass_time, ms), costs)


def costs_above_bounds_until(
    shim: ShimProcess[Any], wait: Callable[[], object], costs: Sequence[str] = tuple(COSTS)
) -> dict[str, float]:
    """Return each cost of the caller that exceeds its limit while `wait` waits, by name.

    Raise Late if no cost does, but the caller waited for a processor for most of the time.
    """
    before, since_ns = {each: getattr(shim, each)() for each in costs}, time.monotonic_ns()
    waited_ns = shim.waited().ns
    wait()
    spent = {each: getattr(shim, each)() - before[each] for each in costs}
    waited_ns, took_ns = shim.waited().ns - waited_ns, time.monotonic_ns() - since_ns
    seconds = took_ns / 1e9 + 0.25
    excess = {each: found for each, found in spent.items() if found > COSTS[each] * seconds}
    if excess and shim.setting.realtime:
        # A process with real-time priority that computes is not delayed, so this attempt decides.
        what = "wake-ups and processor time of a caller that only waits, for each second"
        raise Failure(what, f"at most {COSTS}", str(excess), timed=True)
    if not excess:
        check_not_kept_waiting(waited_ns, took_ns)
    return excess


def check_not_kept_waiting(waited_ns: float, took_ns: float) -> None:
    """Raise Late if the caller waited for a processor for most of the time."""
    if waited_ns > MOST_WAITED * took_ns:
        got = f"it waited for one for {waited_ns / 1e6:.0f} of {took_ns / 1e6:.0f} ms"
        raise Late("the caller gets a processor when it needs one", "most of the time", got)
