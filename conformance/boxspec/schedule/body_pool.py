"""Run the bodies of tests in threads. pytest reads their results later."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future

from boxspec.errors import HarnessError

THREADS = 32


class BodyPool:
    """A pool with a limited number of threads.

    The pool is not an executor, because Python waits at exit for the threads of an executor, even
    for idle ones.

    Bodies start at least `gap_s` apart. If thirty shims started at the same moment, each would take
    thirty times as long and exceed every time limit.

    on_end: gets the key of each body that has ended, in the thread that ran it.
    """

    def __init__(
        self,
        threads: int = THREADS,
        gap_s: float = 0.0,
        on_end: Callable[[str], object] = lambda _: None,
    ) -> None:
        self.gap_s, self._on_end = gap_s, on_end
        self._limit = threads
        self._next_start = 0.0
        self._cancelled = threading.Event()
        self._queue: deque[tuple[Hashable, Future[float], Callable[[], float]]] = deque()
        self._futures: dict[Hashable, Future[float]] = {}
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._changed = threading.Condition()
        self._paused = False
        # The number of threads that run a body now.
        self._running = 0

    def submit(self, key: Hashable, body: Callable[[], float]) -> Future[float]:
        """Queue a body; bodies start in the order of submission."""
        future: Future[float] = Future()
        with self._lock:
            self._futures[key] = future
            self._queue.append((key, future, body))
            self._start_thread()
        return future

    def set_limit(self, threads: int) -> None:
        """Set the number of bodies that may run at once. Running bodies are not ended."""
        with self._lock:
            self._limit = threads
            for _ in range(min(len(self._queue), threads - len(self._threads))):
                self._start_thread()

    def _start_thread(self) -> None:
        """Start a thread if the limit allows it.

        The thread ends when the queue is empty. The caller holds the lock.
        """
        if len(self._threads) < self._limit:
            thread = threading.Thread(target=self._work, name="body", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                # Other programs may have used up the processes of the user. The other threads do
                # the work.
                if not self._threads:
                    raise HarnessError("cannot start a thread: too many processes run") from None
                return
            self._threads.append(thread)

    def running(self) -> int:
        """Return the number of running bodies."""
        with self._changed:
            return self._running

    def _work(self) -> None:
        this = threading.current_thread()
        while True:
            with self._changed:
                self._changed.wait_for(lambda: not self._paused)
                self._running += 1
            try:
                if not self._run_next(this):
                    return
            finally:
                with self._changed:
                    self._running -= 1
                    self._changed.notify_all()

    def _run_next(self, this: threading.Thread) -> bool:
        """Run the next body; return False if the queue is empty or too many threads run."""
        with self._lock:
            if not self._queue or len(self._threads) > self._limit:
                self._threads.remove(this)
                return False
            key, future, body = self._queue.popleft()
        if not future.set_running_or_notify_cancel():
            return True
        self._cancelled.wait(self._delay_before_start())
        try:
            future.set_result(body())
        except BaseException as why:
            future.set_exception(why)
        self._on_end(str(key))
        return True

    def _delay_before_start(self) -> float:
        """Reserve the next start time, and return the delay until then."""
        with self._lock:
            now = time.monotonic()
            mine = max(now, self._next_start)
            self._next_start = mine + self.gap_s
        return mine - now

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Wait until no body runs, and start none until the block ends."""
        with self._changed:
            self._paused = True
            self._changed.wait_for(lambda: not self._running)
        try:
            yield
        finally:
            with self._changed:
                self._paused = False
                self._changed.notify_all()

    def futures(self) -> list[Future[float]]:
        with self._lock:
            return list(self._futures.values())

    def get(self, key: Hashable) -> Future[float] | None:
        return self._futures.get(key)

    def cancel(self) -> None:
        """Drop all bodies that have not started."""
        self._cancelled.set()
        with self._lock:
            waiting = [future for _, future, _ in self._queue]
        for future in waiting:
            future.cancel()

    def join(self, timeout_s: float = 30) -> None:
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(timeout_s)
