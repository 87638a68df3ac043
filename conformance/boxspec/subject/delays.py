"""Repeat a failed test if a delay may be the cause: its shim waited long for a processor, all
processes were stopped, or a time limit was exceeded by a short time.

Each test has moments that must come in time: a child must act before its deadline, or before its
grace period ends. On a very busy machine they come too late, and a right implementation fails. A
short excess may come from a delay that no counter shows (see judge/timing.py).
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Protocol

from boxspec.judge.verdict import Failure, Late, Verdict
from boxspec.subject.attempt import Attempt
from boxspec.subject.pauses import Pauses
from boxspec.subject.waiting import Run, measured_wait_ms

# The shortest period of the contracts is a second: the time to read the rest of the output. The
# processes of a run share it, so half of it counts. Only a time that was measured counts: on a busy
# machine a shim that hangs may have waited all the time, but it did not.
LONG_MS = 500.0
# The reasons for a repeat.
DELAYED, PAUSED = "delayed", "paused"
# A wrong implementation fails many tests. So only this number of them is repeated for each reason.
# A pause may affect all tests that run during it, which are about ten.
MOST = {DELAYED: 5, PAUSED: 10}


class Delayed(Protocol):
    """The part of a case that is needed here."""

    attempt: Attempt

    @property
    def shim_processes(self) -> Sequence[Run]: ...


class Delays:
    """Counts the failures of a session that are repeated because of a delay."""

    def __init__(self) -> None:
        self._left = dict(MOST)
        self._lock = threading.Lock()
        self._pauses = Pauses()

    @contextlib.contextmanager
    def watch(self, case: Delayed) -> Iterator[None]:
        """Run the body of a test inside this block.

        Raise Late in place of a Failure if a time limit was exceeded by a short time, if all
        processes were stopped, or if a run of the case was delayed. After a delayed run the Failure
        stays if it already accounts for the delay, or if the run had real-time priority. Other
        verdicts always stay: no delay lets a program escape.
        """
        began = time.monotonic()
        try:
            yield
        except Failure as why:
            if why.short and case.attempt.number == 1 and self._take(DELAYED):
                raise Late.once(why) from why
            waited_ms = measured_wait_ms(case.shim_processes)
            if why.verdict is not Verdict.FAILS:
                raise
            paused = case.attempt.number == 1 and self._pauses.ended_since(began)
            if paused and self._take(PAUSED):
                raise Late.delayed(why, waited_ms) from why
            if why.timed or waited_ms <= LONG_MS:
                raise
            if case.attempt.realtime:
                why.timed = True
                raise
            if case.attempt.number == 1 and not self._take(DELAYED):
                raise
            raise Late.delayed(why, waited_ms) from why

    def close(self) -> None:
        self._pauses.close()

    def _take(self, reason: str) -> bool:
        with self._lock:
            self._left[reason] -= 1
            return self._left[reason] >= 0
