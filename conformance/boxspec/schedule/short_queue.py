"""Run short bodies: one or two at a time, and more if the running bodies only wait.

Tests of an implementation that hangs take tens of seconds each. A body that waits uses no
processor, so further bodies start as long as a processor is free.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future

from boxspec.schedule.body_pool import BodyPool
from boxspec.subject.observe.machine import Machine

# A short body that takes longer than this is assumed to wait, because on an idle machine it would
# have ended long before.
STALLED_S = 2.0
# How often the number of running bodies is adjusted, in seconds, and the share of idle processor
# time from which further bodies start.
CHECK_S, MIN_FREE = 0.5, 0.25
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
        before = Machine.now()
        while not self._cancelled.wait(CHECK_S):
            now = Machine.now()
            self.set_limit(allowed_bodies(self.running(), now.free_since(before), self._at_least))
            before = now


def allowed_bodies(began: list[float], free: float, at_least: int = 1) -> int:
    """Return how many bodies may run at once.

    began: the start times of the running bodies.
    free: the share of idle processor time.
    at_least: how many bodies may run if none of them waits.
    """
    now = time.monotonic()
    stalled = sum(now - each >= STALLED_S for each in began)
    if free < MIN_FREE:
        return max(at_least, stalled)
    return min(AT_ONCE, at_least + stalled)
