"""Run the second attempts of tests that hung, all in parallel, while no other test runs.

A body that hangs only waits, so the machine stays idle, and on an idle machine an attempt can
decide (see subject/patience.py). When the retries ran one after the other, those of a shim written
in bash took five minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from functools import partial

from boxspec.judge.verdict import Late
from boxspec.schedule.body_pool import BodyPool
from boxspec.subject.attempt import Attempt
from boxspec.subject.case import Case
from boxspec.subject.session import Session

# The number of tests that are repeated at once. With 16, fifty hanging tests take as long as four
# in a row.
AT_ONCE = 16

# A function that runs the body of a test in a case, and returns its duration in seconds.
RunBody = Callable[[Case], float]


class RetryPool:
    """Runs and keeps the second attempts of one session, one for each test."""

    def __init__(self) -> None:
        self._pool = BodyPool(AT_ONCE)
        # The cases whose second attempt has begun, until `take_over` fetches them.
        self._cases: dict[str, Case] = {}

    def run(
        self, bodies: Mapping[str, tuple[type[Case], RunBody]], shim: Session, gap_s: float
    ) -> None:
        """Run each of these tests once, except those that were repeated already.

        Returns when all bodies have ended.
        """
        self._pool.gap_s = gap_s
        started = []
        for name, (make, run) in bodies.items():
            if self._pool.get(name) is not None:
                continue
            case = self._cases[name] = make(shim, name, attempt=Attempt(2))
            started.append(self._pool.submit(name, partial(run, case)))
        wait(started)

    def take_over(self, name: str) -> tuple[Case, Future[float]] | None:
        """Return the case of a test's second attempt, with its result.

        The caller closes the case.
        """
        case, future = self._cases.pop(name, None), self._pool.get(name)
        return None if case is None or future is None else (case, future)

    def cancel(self) -> None:
        """Start no further body."""
        self._pool.cancel()

    def close(self) -> None:
        """Close the cases that were not taken over. Their shims must have been interrupted
        before."""
        self._pool.join()
        for case in self._cases.values():
            case.close(keep=False)


def has_hung(future: Future[float] | None) -> bool:
    """True if a body in another thread ended because an awaited event did not happen."""
    if future is None or not future.done() or future.cancelled():
        return False
    why = future.exception()
    return isinstance(why, Late) and why.hang
