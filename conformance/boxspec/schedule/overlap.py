"""Long tests beside each other: their bodies start with the session, pytest only joins them."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future

THREADS = 32


class Overlap:
    """A bounded pool. Plain threads: an executor's would be waited for at exit, even when idle.

    `gap_s` apart at least two bodies start: thirty shims that start in the same moment would
    each take thirty times as long, and every upper bound with them.
    """

    def __init__(self, threads: int = THREADS, gap_s: float = 0.0) -> None:
        self.gap_s = gap_s
        self._limit = threads
        self._next_start = 0.0
        self._cancelled = threading.Event()
        self._queue: deque[tuple[Future[float], Callable[[], float]]] = deque()
        self._futures: dict[Hashable, Future[float]] = {}
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._rests = threading.Condition()
        self._resting = False
        # When the bodies that run began, by thread.
        self._running: dict[threading.Thread, float] = {}

    def submit(self, key: Hashable, body: Callable[[], float]) -> Future[float]:
        """Queue a body; the first submitted start first."""
        future: Future[float] = Future()
        with self._lock:
            self._futures[key] = future
            self._queue.append((future, body))
            self._start_thread()
        return future

    def allow(self, threads: int) -> None:
        """So many bodies may run beside each other from now on; none that runs is ended."""
        with self._lock:
            self._limit = threads
            for _ in self._queue:
                self._start_thread()

    def _start_thread(self) -> None:
        """One more, if there may be one; the caller holds the lock. It ends when nothing waits."""
        if len(self._threads) < self._limit:
            thread = threading.Thread(target=self._work, name="overlap", daemon=True)
            self._threads.append(thread)
            thread.start()

    def running(self) -> list[float]:
        """When the bodies that run now began, by the monotonic clock."""
        with self._rests:
            return list(self._running.values())

    def _work(self) -> None:
        me = threading.current_thread()
        while True:
            with self._rests:
                self._rests.wait_for(lambda: not self._resting)
                self._running[me] = time.monotonic()
            try:
                if not self._one(me):
                    return
            finally:
                with self._rests:
                    del self._running[me]
                    self._rests.notify_all()

    def _one(self, me: threading.Thread) -> bool:
        """Run the next body, if there is one and this thread is not one too many."""
        with self._lock:
            if not self._queue or len(self._threads) > self._limit:
                self._threads.remove(me)
                return False
            future, body = self._queue.popleft()
        if not future.set_running_or_notify_cancel():
            return True
        self._cancelled.wait(self._turn())
        try:
            future.set_result(body())
        except BaseException as why:
            future.set_exception(why)
        return True

    def _turn(self) -> float:
        """Take the next free start; how long it is until then."""
        with self._lock:
            now = time.monotonic()
            mine = max(now, self._next_start)
            self._next_start = mine + self.gap_s
        return mine - now

    @contextlib.contextmanager
    def at_rest(self) -> Iterator[None]:
        """No body runs meanwhile: those that do are waited for, the others wait."""
        with self._rests:
            self._resting = True
            self._rests.wait_for(lambda: not self._running)
        try:
            yield
        finally:
            with self._rests:
                self._resting = False
                self._rests.notify_all()

    def futures(self) -> list[Future[float]]:
        with self._lock:
            return list(self._futures.values())

    def finished(self) -> list[Hashable]:
        """The keys of the bodies that have ended."""
        with self._lock:
            return [key for key, future in self._futures.items() if _has_ended(future)]

    def get(self, key: Hashable) -> Future[float] | None:
        return self._futures.get(key)

    def cancel(self) -> None:
        """Start nothing more."""
        self._cancelled.set()
        with self._lock:
            waiting = [future for future, _ in self._queue]
        for future in waiting:
            future.cancel()

    def join(self, timeout_s: float = 30) -> None:
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(timeout_s)


def _has_ended(future: Future[float]) -> bool:
    return future.done() and not future.cancelled()
