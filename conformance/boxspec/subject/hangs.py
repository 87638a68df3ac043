"""Hangs by topic: many with one cause end early."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial

MANY = 3
# So many of what may hang run beside each other: one that waits keeps nobody from anything, and one
# that computes without end should leave the others a processor now and then.
AT_ONCE = 4


class Hangs:
    """After three hangs of one topic, the rest is asked a few at a time and waited for less."""

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
        """So many there are, elsewhere too."""
        with self._lock:
            self._counts[topic] = count

    def many(self, topic: str) -> bool:
        return self._counts[topic] >= MANY

    @contextlib.contextmanager
    def turn(self, topic: str) -> Iterator[None]:
        """Around each test of a topic."""
        if not self.many(topic):
            yield
            return
        with self._lock:
            mine = self._turns[topic]
        with mine:
            yield
