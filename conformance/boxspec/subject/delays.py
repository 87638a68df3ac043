"""Repeat a test that failed while its shim waited long for a processor, or by a short excess.

Each test has moments that must come in time: a child must act before its deadline, or before its
grace period ends. On a very busy machine they come too late, and a right implementation fails. If a
time limit is exceeded by a short time, the cause may be a delay that no counter shows (see
judge/timing.py).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Protocol

from boxspec.judge.verdict import Failure, Late, Verdict
from boxspec.subject.attempt import Attempt
from boxspec.subject.waiting import Run, measured_wait_ms

# The shortest period of the contracts is a second: the time to read the rest of the output. The
# processes of a run share it, so half of it counts. Only a time that was measured counts: on a busy
# machine a shim that hangs may have waited all the time, but it did not.
LONG_MS = 500.0
# A wrong implementation fails many tests. So only this number of them is repeated.
MOST = 5


class Delayed(Protocol):
    """The part of a case that is needed here."""

    attempt: Attempt

    @property
    def shim_processes(self) -> Sequence[Run]: ...


class Delays:
    """Counts the failures of a session that are repeated because of a delay."""

    def __init__(self) -> None:
        self._left = MOST
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def watch(self, case: Delayed) -> Iterator[None]:
        """Run the body of a test inside this block.

        Raise Late in place of a Failure if a run of the case was delayed. A failure stays if it
        already accounts for the delay, if the run had real-time priority, or if the verdict is
        another one: no delay lets a program escape.
        """
        try:
            yield
        except Failure as why:
            if why.short and case.attempt.number == 1 and self._take():
                raise Late.once(why) from why
            waited_ms = measured_wait_ms(case.shim_processes)
            if why.timed or why.verdict is not Verdict.FAILS or waited_ms <= LONG_MS:
                raise
            if case.attempt.realtime:
                why.timed = True
                raise
            if case.attempt.number == 1 and not self._take():
                raise
            raise Late.delayed(why, waited_ms) from why

    def _take(self) -> bool:
        with self._lock:
            self._left -= 1
            return self._left >= 0
