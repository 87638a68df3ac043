"""The retry pool: second attempts of tests that hung run in parallel, while no other test runs.

A body that hangs only waits, so many of them leave the machine idle, and an attempt on an idle
machine can decide (see subject/patience.py). One after the other, the retries of a shim written in
bash took five minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from functools import partial

from boxspec.judge.verdict import Late
from boxspec.schedule.body_pool import BodyPool
from boxspec.subject.case import Case
from boxspec.subject.look import Look
from boxspec.subject.session import Session

# If a shim hangs in fifty tests, the run waits for it four times instead of fifty times.
AT_ONCE = 16

# Runs a test's body in a case; returns its duration in seconds.
RunBody = Callable[[Case], float]


class RetryPool:
    """The second attempts of one session, by test."""

    def __init__(self) -> None:
        self._pool = BodyPool(AT_ONCE)
        # Cases that no test has taken over yet.
        self._cases: dict[str, Case] = {}

    def run(
        self, bodies: Mapping[str, tuple[type[Case], RunBody]], shim: Session, gap_s: float
    ) -> None:
        """Run these tests once, if they were not repeated yet; return when all bodies have
        ended."""
        self._pool.gap_s = gap_s
        started = []
        for name, (make, run) in bodies.items():
            if self._pool.get(name) is not None:
                continue
            case = self._cases[name] = make(shim, name, look=Look(2))
            started.append(self._pool.submit(name, partial(run, case)))
        wait(started)

    def take_over(self, name: str) -> tuple[Case, Future[float]] | None:
        """Hand over the case of a test's second attempt, with its result; the caller closes the
        case."""
        case, future = self._cases.pop(name, None), self._pool.get(name)
        return None if case is None or future is None else (case, future)

    def cancel(self) -> None:
        """Start no further body."""
        self._pool.cancel()

    def close(self) -> None:
        """Close the cases that no test has taken over. The shims were interrupted before."""
        self._pool.join()
        for case in self._cases.values():
            case.close(keep=False)


def has_hung(future: Future[float] | None) -> bool:
    """True if a body in another thread ended because an awaited event did not happen."""
    if future is None or not future.done() or future.cancelled():
        return False
    why = future.exception()
    return isinstance(why, Late) and why.hang
