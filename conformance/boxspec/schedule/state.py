"""What one pytest session holds, and what it leaves for whoever started it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import Future, wait

import pytest

from boxspec.programs import programs
from boxspec.schedule.ask_again import AskAgain
from boxspec.schedule.ending import ENDING, Ending
from boxspec.schedule.overlap import Overlap
from boxspec.target.case import Box
from boxspec.target.client.command import shim_argv
from boxspec.target.session import Session
from boxspec.target.trust import trust


class State:
    """What one pytest session holds; made in pytest_configure, closed in pytest_unconfigure."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.session: Session | None = None
        self.overlap = Overlap(config.getoption("boxspec_jobs"))
        # Short bodies, from the last one on: the main thread comes to meet it. Most of a short case
        # is waiting for processes to start and end, and there is more than one processor.
        self.lane = Overlap(threads=1)
        self.boxes: dict[str, Box] = {}
        self.again = AskAgain()
        self.ending = config.stash[ENDING] = Ending(
            ahead=lambda: [*self.overlap.finished(), *self.lane.finished()]
        )

    def open(self) -> Session:
        """The shim's session, trusted; the first caller starts it."""
        if self.session is None:
            option = self.config.getoption
            programs.check()
            session = Session(
                shim_argv(option("boxspec_shim")),
                seed=option("boxspec_seed"),
                busy=option("boxspec_busy"),
                backend=option("boxspec_backend"),
                stress=option("boxspec_stress"),
                isolate=option("boxspec_isolate"),
            )
            try:
                trust(session, contracts=option("boxspec_contracts"))
            except BaseException:
                session.close()
                raise
            self.session = session
            self.ending.hello = session.hello
            self.ending.left = lambda: session.leftovers.said
        return self.session

    def elsewhere(self, key: str) -> Future[float] | None:
        """A body that runs or ran in another thread; None leaves it to the caller."""
        future = self.overlap.get(key)
        if future is not None:
            return future
        future = self.lane.get(key)
        return None if future is None or future.cancel() else future

    @contextlib.contextmanager
    def alone(self) -> Iterator[bool]:
        """No other test runs meanwhile; but who asks for the first failure waits for nobody."""
        if self.config.getoption("boxspec_fail_fast"):
            yield False
            return
        wait(self.overlap.futures())
        with self.lane.at_rest():
            yield True

    def close(self) -> None:
        self.overlap.cancel()
        self.lane.cancel()
        if self.session is not None:
            self.session.interrupt()
            self.overlap.join()
            self.lane.join()
            for box in self.boxes.values():
                box.close(keep=False)
            self.session.close()


STATE = pytest.StashKey[State]()
