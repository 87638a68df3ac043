"""Hangs by topic: many with one cause end early."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator

MANY = 3


class Hangs:
    """After three hangs of one topic the rest of it is asked one at a time, and waited for less."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._turns: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
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
