"""Second looks at what hung: beside each other, while no other test runs.

A body that hangs waits, so many of them keep no machine busy, and a machine that is on time decides
about them (see subject/patience.py). One after the other, those of a shim of bash took five
minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from functools import partial

from boxspec.judge.verdict import Late
from boxspec.schedule.overlap import Overlap
from boxspec.subject.case import Case
from boxspec.subject.look import Look
from boxspec.subject.session import Session

# All others rest meanwhile: a shim that hangs in fifty tests is waited for a few times over.
AT_ONCE = 16

# A test's body in a case; the seconds that it took.
Run = Callable[[Case], float]


class Beside:
    """The second looks of one session, by the test."""

    def __init__(self) -> None:
        self._pool = Overlap(AT_ONCE)
        # Nobody has taken these yet.
        self._cases: dict[str, Case] = {}

    def look(self, bodies: Mapping[str, Run], shim: Session, gap_s: float) -> None:
        """At all of these tests that were not looked at yet; their bodies have ended then."""
        self._pool.gap_s = gap_s
        begun = []
        for name, run in bodies.items():
            if self._pool.get(name) is not None:
                continue
            case = self._cases[name] = Case(shim, name, look=Look(2))
            begun.append(self._pool.submit(name, partial(run, case)))
        wait(begun)

    def take(self, name: str) -> tuple[Case, Future[float]] | None:
        """The case of the second look at a test, from now on the caller's, and what came of it."""
        case, future = self._cases.pop(name, None), self._pool.get(name)
        return None if case is None or future is None else (case, future)

    def cancel(self) -> None:
        """Start nothing more."""
        self._pool.cancel()

    def close(self) -> None:
        """After the shims were interrupted: the cases that nobody took are over."""
        self._pool.join()
        for case in self._cases.values():
            case.close(keep=False)


def hung(future: Future[float] | None) -> bool:
    """Whether a body that ran elsewhere ended because something did not come, nobody knows why."""
    if future is None or not future.done() or future.cancelled():
        return False
    why = future.exception()
    return isinstance(why, Late) and why.hang
