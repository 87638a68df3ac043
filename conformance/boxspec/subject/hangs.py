"""Hangs by topic: after several hangs the remaining tests get less time."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial

MANY = 3
# Tests of one topic that run at once. A waiting test is cheap, but endless computations must leave
# the others a processor.
AT_ONCE = 4


class Hangs:
    """After three hangs of a topic its other tests run a few at a time, with shorter limits."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._turns: defaultdict[str, threading.Semaphore] = defaultdict(
            partial(threading.Semaphore, AT_ONCE)
        )
        self._lock = threading.Lock()

    def note(self, topic: str) -> None:
        with self._lock:
            self._counts[topic] += 1

    def count(self, topic: str) -> int:
        return self._counts[topic]

    def learn(self, topic: str, count: int) -> None:
        """Set the number of hangs, including those in other processes."""
        with self._lock:
            self._counts[topic] = count

    def many(self, topic: str) -> bool:
        return self._counts[topic] >= MANY

    @contextlib.contextmanager
    def turn(self, topic: str) -> Iterator[None]:
        """Wrap each test of a topic, to limit how many run at once."""
        if not self.many(topic):
            yield
            return
        with self._lock:
            mine = self._turns[topic]
        with mine:
            yield
