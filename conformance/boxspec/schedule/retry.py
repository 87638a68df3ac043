"""Repeat tests that exceeded a time limit, if scheduling delay may be the cause.

The first attempt of such a test counts neither as failed nor as conforming. The test is repeated
without other tests and with real-time priority. It conforms if one attempt is in time. It fails if
one attempt is late without scheduling delay; if the excess is short, two attempts must be late. If
no attempt decides, it was not measured. A test that hung is repeated only once in this way, after
an attempt at the same time as other tests that hung.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

from boxspec.judge.verdict import Failure, Late, NotMeasured
from boxspec.subject.attempt import Attempt
from boxspec.subject.observe.realtime import realtime

# The greatest number of attempts, including the first one.
ATTEMPTS = 5
# Time limit for all undecided repeats of a session. A machine that was too busy for minutes will
# stay busy.
MAX_UNDECIDED_S = 120.0

# A function that runs the test in a new case.
RunAttempt = Callable[[Attempt], object]


class Retry:
    """Repeats the tests of one session."""

    def __init__(self) -> None:
        self.undecided_s = 0.0

    def until_decided(
        self,
        run_attempt: RunAttempt,
        first: Late,
        *,
        pooled: Callable[[], object] | None = None,
        alone: bool = True,
        use_realtime: bool = True,
    ) -> str:
        """Repeat a late test until an attempt decides.

        Return a text about the late attempts if an attempt conforms. Raise Failure if an attempt
        fails; a hang with real-time priority is a failure. Raise NotMeasured if no attempt decides.
        After a hang without real-time priority there are no further attempts, except if the hang
        was in the retry pool.

        first: the exception of the first attempt.
        pooled: a function that returns if the second attempt conformed, and raises its exception
            otherwise. None if there was no attempt in the retry pool.
        alone: True if no other test runs meanwhile.
        use_realtime: True to use real-time priority if the system permits it. Only one test at a
            time may do so.
        """
        seen = [first]
        if pooled is not None:
            try:
                pooled()
            except Late as why:
                seen.append(why)
            except Failure as why:
                seen.append(_once_or_fail(why, seen))
            else:
                return _late(seen)
        while len(seen) < ATTEMPTS and self.undecided_s < MAX_UNDECIDED_S:
            began = time.monotonic()
            try:
                with _attempt(len(seen) + 1, alone, use_realtime, hung=seen[-1].hang) as look:
                    self._once(run_attempt, look)
            except _RealtimeMisfit:
                use_realtime = False
                continue
            except Late as why:
                self.undecided_s += time.monotonic() - began
                seen.append(why)
                if why.hang and look.realtime:
                    raise _with_first(why.failure(), first) from None
                if why.hang:
                    break
            except Failure as why:
                seen.append(_once_or_fail(why, seen))
            else:
                return _late(seen)
        times = "once" if len(seen) == 1 else f"in each of {len(seen)} attempts"
        raise NotMeasured(f"late {times}: {seen[-1]}") from None

    @staticmethod
    def _once(run_attempt: RunAttempt, attempt: Attempt) -> None:
        try:
            run_attempt(attempt)
        except Late:
            raise
        except Exception as why:
            if attempt.realtime and not getattr(why, "timed", False):
                raise _RealtimeMisfit from why
            raise


class _RealtimeMisfit(Exception):
    """Raised if an attempt with real-time priority fails for a reason other than time.

    Such an attempt must not decide. For example, the kernel kills a process with real-time priority
    that computes without a pause.
    """


@contextlib.contextmanager
def _attempt(number: int, alone: bool, use_realtime: bool, *, hung: bool) -> Iterator[Attempt]:
    if not use_realtime:
        yield Attempt(number, alone, hung=hung)
        return
    with realtime() as allowed:
        yield Attempt(number, alone, allowed, hung)


def _late(seen: list[Late]) -> str:
    return f"late in {len(seen)} of {len(seen) + 1} attempts: {seen[0]}"


def _once_or_fail(why: Failure, seen: list[Late]) -> Late:
    """Return Late for the first short excess; raise every other failure."""
    if why.short and not any(each.unexplained for each in seen):
        return Late.once(why)
    raise _with_first(why, seen[0]) from None


def _with_first(why: Failure, first: Late) -> Failure:
    why.evidence.setdefault("first attempt", f"{first.what}: {first.got}")
    return why
