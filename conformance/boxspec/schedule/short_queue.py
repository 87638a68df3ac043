"""Run short bodies: as many at once as the processors can take.

A short body mostly waits for processes to start and end, and tests of an implementation that hangs
wait for tens of seconds. So further bodies start as long as processor time is left.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future

from boxspec.schedule.body_pool import BodyPool
from boxspec.subject.observe.machine import Machine

# How often the number of running bodies is adjusted, in seconds.
CHECK_S = 0.5
# Shares of idle processor time. From IDLE on, one more body may run at once. Below BUSY, the limit
# is halved.
IDLE, BUSY = 0.25, 0.1
AT_ONCE = 16


class ShortQueue(BodyPool):
    """Runs short bodies in threads.

    at_least: the number of bodies that run at once on a busy machine.
    """

    def __init__(self, on_end: Callable[[str], object], at_least: int = 1) -> None:
        super().__init__(threads=at_least, on_end=on_end)
        self._at_least = at_least
        self._watch: threading.Thread | None = None

    def submit(self, key: Hashable, body: Callable[[], float]) -> Future[float]:
        future = super().submit(key, body)
        if self._watch is None:
            self._watch = threading.Thread(
                target=self._adjust_limit, name="short queue", daemon=True
            )
            self._watch.start()
        return future

    def _adjust_limit(self) -> None:
        before, limit = Machine.now(), self._at_least
        while not self._cancelled.wait(CHECK_S):
            now = Machine.now()
            limit = next_limit(limit, now.free_since(before), self._at_least)
            self.set_limit(limit)
            before = now


def next_limit(limit: int, free: float, at_least: int = 1) -> int:
    """Return how many bodies may run at once from now on.

    limit: how many bodies could run at once up to now.
    free: the share of idle processor time since the last adjustment.
    at_least: the smallest limit.
    """
    if free >= IDLE:
        return min(limit + 1, AT_ONCE)
    return max(limit // 2, at_least) if free < BUSY else limit
