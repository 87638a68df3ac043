"""Count the hangs of each topic.

After several hangs the remaining tests of the topic get less time.
"""

from __future__ import annotations

import contextlib
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial

MANY = 3
# Once a topic has many hangs, only this number of its tests run at once. A test that waits needs no
# processor, but the implementation may also compute for ever, and other tests need a processor.
AT_ONCE = 4


class Hangs:
    """Counts hangs.

    After three hangs of a topic its other tests run a few at a time, with shorter time limits.
    """

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
        """Set the number of hangs, which includes hangs that another process of the kit has
        seen."""
        with self._lock:
            self._counts[topic] = count

    def many(self, topic: str) -> bool:
        return self._counts[topic] >= MANY

    @contextlib.contextmanager
    def turn(self, topic: str) -> Iterator[None]:
        """Run a test inside this block. If its topic has many hangs, the block may wait for other
        tests."""
        if not self.many(topic):
            yield
            return
        with self._lock:
            mine = self._turns[topic]
        with mine:
            yield
