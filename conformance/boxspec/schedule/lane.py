"""Short bodies, one after the other; more beside each other while all that run do nothing but wait.

An implementation that hangs is waited for tens of seconds, test after test. Who waits keeps no
machine busy: while a processor is free, the next bodies begin.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future

from boxspec.schedule.overlap import Overlap
from boxspec.subject.observe.machine import Machine

# A short body takes far less on a machine that has time for it.
STALLS_S = 2.0
# So often is looked, and so much of that time the processors were free together, on average.
LOOK_S, FREE = 0.5, 0.25
AT_ONCE = 16


class Lane(Overlap):
    """A queue of short bodies."""

    def __init__(self) -> None:
        super().__init__(threads=1)
        self._watch: threading.Thread | None = None

    def submit(self, key: Hashable, body: Callable[[], float]) -> Future[float]:
        future = super().submit(key, body)
        if self._watch is None:
            self._watch = threading.Thread(target=self._look, name="lane", daemon=True)
            self._watch.start()
        return future

    def _look(self) -> None:
        before = Machine.now()
        while not self._cancelled.wait(LOOK_S):
            now = Machine.now()
            self.allow(threads(self.running(), now.free_since(before)))
            before = now


def threads(began: list[float], free: float) -> int:
    """How many bodies may run, where these run already."""
    now = time.monotonic()
    stalled = sum(now - each >= STALLS_S for each in began)
    if free < FREE:
        return max(1, stalled)
    return min(AT_ONCE, 1 + stalled)
