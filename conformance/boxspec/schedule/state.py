"""The state of one pytest session."""

from __future__ import annotations

import contextlib
import os
import queue
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import Any

import pytest

from boxspec.programs import programs
from boxspec.schedule.body import case_class, run_in_worker
from boxspec.schedule.body_pool import BodyPool
from boxspec.schedule.retry import Retry
from boxspec.schedule.retry_pool import RetryPool, has_hung
from boxspec.schedule.selection import requires_of
from boxspec.schedule.session_info import SESSION_INFO, SLOW, SessionInfo
from boxspec.schedule.short_queue import ShortQueue
from boxspec.schedule.worker import WORTH, ClosedCase, Worker
from boxspec.subject.case import Case
from boxspec.subject.client.command import shim_argv
from boxspec.subject.isolation import Isolation, isolation
from boxspec.subject.process_limit import affordable
from boxspec.subject.sentinels import quiet
from boxspec.subject.session import Session
from boxspec.subject.trust import trust


class State:
    """The state of one pytest session.

    It is created in pytest_configure and closed in pytest_unconfigure.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.session: Session | None = None
        self.interrupted = False
        # The names of tests whose bodies have ended in other threads.
        self.ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        jobs = affordable(config.getoption("boxspec_jobs"))
        self.long_bodies = BodyPool(jobs, on_end=self._end)
        # A short case mostly waits for processes to start and end, so two short bodies run at once:
        # the main thread takes them from the beginning of the list, and this thread pool from its
        # end. With -x the main thread runs none, so the pool runs two at once.
        at_least = 2 if config.getoption("boxspec_fail_fast") else 1
        self.short_bodies = ShortQueue(self._end, at_least)
        # A second process that also runs short bodies. It exists only if there are many short tests
        # and at least two processors.
        self.worker: Worker | None = None
        self.cases: dict[str, Case | ClosedCase] = {}
        self.retry = Retry()
        self.retry_pool = RetryPool()
        # True while the main thread repeats a test, and no other test runs.
        self._repeats = False
        self.info = config.stash[SESSION_INFO] = SessionInfo(
            running=self._running, abandon=self.abandon
        )

    def _running(self) -> int:
        """Return the number of tests that run; callable from any thread."""
        return self.long_bodies.running() + self.short_bodies.running() + self._repeats

    def _end(self, name: str) -> None:
        # After `interrupt` the results do not count, because `interrupt` has ended the shims.
        if not self.interrupted:
            self.ended.put(name)

    def open(self) -> Session:
        """Return the session with the shim. The first call opens it and runs the trust checks."""
        if self.session is None:
            option = self.config.getoption
            programs.check()
            isolated = isolation() if option("boxspec_isolate") else None
            session = self._session(isolated, busy=option("boxspec_busy"))
            try:
                slow = self.config.stash.get(SLOW, quiet)
                trust(session, contracts=option("boxspec_contracts"), slow=slow)
            except BaseException:
                session.close()
                raise
            self.session = session
            if self.worker is not None:
                self.worker.open(session)
            self.info.hello = session.hello
            self.info.chosen, self.info.claims = session.chosen, session.claims
            self.info.left = lambda: session.leftovers.summary
            self.info.folders = lambda: session.leftovers.folders
        return self.session

    def _session(self, isolated: Isolation | None, busy: int = 0) -> Session:
        option = self.config.getoption
        return Session(
            shim_argv(option("boxspec_shim")),
            seed=option("boxspec_seed"),
            busy=busy,
            backend=option("boxspec_backend"),
            stress=option("boxspec_stress"),
            isolate=isolated,
        )

    def start_worker(self, items: Sequence[pytest.Item]) -> None:
        """Fork the worker process if there are enough short tests.

        Call it before the session is opened.
        """
        if len(items) >= WORTH and len(os.sched_getaffinity(0)) > 1:
            named = {item.nodeid: item for item in items}
            self.worker = Worker.start(self._worker_session, partial(self._run_test, named))

    def _worker_session(self, handed: dict[str, Any]) -> Session:
        """Return the session of the worker process."""
        isolated = handed["isolation"]
        session = self._session(Isolation(**isolated) if isolated else None)
        session.take_over(handed)
        return session

    def _run_test(
        self, items: dict[str, pytest.Item], session: Session, name: str
    ) -> dict[str, Any]:
        item = items[name]
        marked = requires_of(item)
        assert marked is not None
        keep = self.config.getoption("boxspec_keep")
        return run_in_worker(item, marked, case_class(marked)(session, name), keep=keep)

    def body_of(self, key: str) -> Future[float] | None:
        """Return the future of a body that was submitted to a pool."""
        return self.long_bodies.get(key) or self.short_bodies.get(key)

    def future_of(self, key: str) -> Future[float] | None:
        """Return the future of a body that another thread runs, or None.

        None means that the caller must run the body. The body is then no longer in a queue.
        """
        future = self.long_bodies.get(key)
        if future is not None:
            return future
        future = self.short_bodies.get(key)
        return None if future is None or future.cancel() else future

    def cancel(self, key: str) -> None:
        """Drop a body that has not started."""
        future = self.body_of(key)
        if future is not None:
            future.cancel()

    def have_hung(self, items: Sequence[pytest.Item]) -> list[pytest.Item]:
        """Return the tests that hung in another thread."""
        names = [item.nodeid for item in items]
        futures = [self.body_of(name) for name in names]
        return [item for item, future in zip(items, futures, strict=True) if has_hung(future)]

    @contextlib.contextmanager
    def without_other_tests(self) -> Iterator[None]:
        """Wait until no other test runs, and start no further test inside the block."""
        wait(self.long_bodies.futures())
        with self.short_bodies.paused():
            self._repeats = True
            try:
                yield
            finally:
                self._repeats = False

    def interrupt(self) -> None:
        """Start no further test, and end the shims of all running ones. Returns at once."""
        self.interrupted = True
        self.long_bodies.cancel()
        self.short_bodies.cancel()
        self.retry_pool.cancel()
        if self.worker is not None:
            self.worker.interrupt()
        if self.session is not None:
            self.session.interrupt()

    def abandon(self) -> None:
        """Remove the session's folders if there is no time to close the session.

        The folders stay if the session has a kept one.
        """
        self.interrupt()
        if self.session is not None:
            self.session.abandon()

    def close(self) -> None:
        self.interrupt()
        if self.session is not None:
            self.long_bodies.join()
            self.short_bodies.join()
            self.retry_pool.close()
            for case in self.cases.values():
                case.close(keep=False)
        if self.worker is not None:
            self.worker.close()
        if self.session is not None:
            self.session.close()


STATE = pytest.StashKey[State]()
