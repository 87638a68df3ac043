"""Check the time limits of a case: between two stamps, or compared with a control run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Protocol

from boxspec.judge.timing import Timing
from boxspec.judge.verdict import Failure, Late
from boxspec.subject.attempt import Attempt
from boxspec.subject.observe.stamps import ENDING_MS, Stamp, elapsed_ms
from boxspec.subject.observed import FromOutside
from boxspec.subject.waiting import Run, waited_between, waited_by_now


class Stage(Protocol):
    """The part of a case that time limits need."""

    attempt: Attempt

    @property
    def shim_processes(self) -> Sequence[Run]: ...

    def note(self, timing: Timing) -> Timing: ...


def expect_within(case: Stage, what: str, since: Stamp, until: Stamp, limit_ms: float) -> None:
    """Expect that at most `limit_ms` pass between two stamps."""
    waited_ms, seen = waited_between(case.shim_processes, since, until)
    took_ms = elapsed_ms(since, until)
    case.note(Timing(what, limit_ms, until.spare_ms, took_ms, waited_ms, seen)).check()


def expect_no_longer(
    case: Stage, what: str, seen: FromOutside, control: FromOutside, limit_ms: float
) -> None:
    """Expect that a run takes at most `limit_ms` longer than a control run."""
    theirs, _ = waited_between(case.shim_processes, control.start, control.end, child=False)
    # Only the delay of the run is subtracted from its duration. If the delay of the control run
    # were subtracted too, the check could hide a delay of the run.
    took_ms = seen.elapsed_ms - control.elapsed_ms + theirs
    ours, whole = waited_between(case.shim_processes, seen.start, seen.end, child=True)
    waited_ms = min(ours + theirs, max(0.0, took_ms))
    case.note(Timing(what, limit_ms, ENDING_MS, took_ms, waited_ms, whole)).check()


# If a run waited longer than this for a processor, it may have missed the moment that is tested.
PROMPT_MS = 20.0


@contextlib.contextmanager
def for_the_prompt(case: Stage) -> Iterator[None]:
    """Check an expectation that holds only if the shim acts promptly.

    If the expectation fails and a run of the case had to wait for a processor, the test is
    repeated.
    """
    try:
        yield
    except Failure as why:
        waited_ms = max((waited_by_now(run)[0] for run in case.shim_processes), default=0.0)
        if case.attempt.realtime or waited_ms <= PROMPT_MS:
            why.timed = case.attempt.realtime
            raise
        raise Late.delayed(why, waited_ms) from why
