"""The state of one pytest session."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import Any

import pytest

from boxspec.programs import programs
from boxspec.schedule.beside import Beside, hung
from boxspec.schedule.body import case_class, run_in_worker
from boxspec.schedule.ending import ENDING, Ending
from boxspec.schedule.lane import Lane
from boxspec.schedule.overlap import Overlap
from boxspec.schedule.retry import Retry
from boxspec.schedule.selection import requires_of
from boxspec.schedule.worker import WORTH, ClosedCase, Worker
from boxspec.subject.case import Case
from boxspec.subject.client.command import shim_argv
from boxspec.subject.isolation import Isolation, isolation
from boxspec.subject.session import Session
from boxspec.subject.trust import trust


class State:
    """The state of one pytest session; created in pytest_configure, closed in
    pytest_unconfigure."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.session: Session | None = None
        self.overlap = Overlap(config.getoption("boxspec_jobs"))
        # Short bodies, in reverse order: the main thread starts at the other end. A short case
        # mostly waits for processes to start and end, so two can run in parallel.
        self.lane = Lane()
        # Runs the bodies of the queue, if there are many short ones and two processors.
        self.worker: Worker | None = None
        self.cases: dict[str, Case | ClosedCase] = {}
        self.again = Retry()
        self.beside = Beside()
        self.ending = config.stash[ENDING] = Ending(
            ahead=lambda: [*self.overlap.finished(), *self.lane.finished()]
        )

    def open(self) -> Session:
        """Return the shim's session after its trust checks; the first call starts it."""
        if self.session is None:
            option = self.config.getoption
            programs.check()
            isolated = isolation() if option("boxspec_isolate") else None
            session = self._session(isolated, busy=option("boxspec_busy"))
            try:
                trust(session, contracts=option("boxspec_contracts"))
            except BaseException:
                session.close()
                raise
            self.session = session
            if self.worker is not None:
                self.worker.open(session)
            self.ending.hello = session.hello
            self.ending.left = lambda: session.leftovers.summary
            self.ending.folders = lambda: session.leftovers.folders
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
        """Fork the worker process if enough tests are short; call it before the session is
        opened."""
        if len(items) >= WORTH and len(os.sched_getaffinity(0)) > 1:
            named = {item.nodeid: item for item in items}
            self.worker = Worker.start(self._beside, partial(self._run_test, named))

    def _beside(self, handed: dict[str, Any]) -> Session:
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

    def elsewhere(self, key: str) -> Future[float] | None:
        """Return the future of a body in another thread, unless the caller must run it."""
        future = self.overlap.get(key)
        if future is not None:
            return future
        future = self.lane.get(key)
        return None if future is None or future.cancel() else future

    def have_hung(self, items: Sequence[pytest.Item]) -> list[pytest.Item]:
        """Return the tests that hung in another thread."""
        names = [item.nodeid for item in items]
        futures = [self.overlap.get(name) or self.lane.get(name) for name in names]
        return [item for item, future in zip(items, futures, strict=True) if hung(future)]

    @contextlib.contextmanager
    def asks_again(self, name: str) -> Iterator[None]:
        """Name the test that is being repeated, for the progress line."""
        self.ending.again = name
        try:
            yield
        finally:
            self.ending.again = ""

    @contextlib.contextmanager
    def alone(self) -> Iterator[bool]:
        """Hold back all other tests. With -x, where the first failure ends the run, do not wait for
        them."""
        if self.config.getoption("boxspec_fail_fast"):
            yield False
            return
        wait(self.overlap.futures())
        with self.lane.at_rest():
            yield True

    def close(self) -> None:
        self.overlap.cancel()
        self.lane.cancel()
        self.beside.cancel()
        if self.worker is not None:
            self.worker.interrupt()
        if self.session is not None:
            self.session.interrupt()
            self.overlap.join()
            self.lane.join()
            self.beside.close()
            for case in self.cases.values():
                case.close(keep=False)
        if self.worker is not None:
            self.worker.close()
        if self.session is not None:
            self.session.close()


STATE = pytest.StashKey[State]()
