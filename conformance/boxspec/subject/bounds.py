"""Bounds of time in a case: between two stamps, or beyond another run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Protocol

from boxspec.judge.timing import Timing
from boxspec.judge.verdict import Failure, Late
from boxspec.subject.look import Look
from boxspec.subject.observe.stamps import ENDING_MS, Stamp, elapsed_ms
from boxspec.subject.observed import FromOutside
from boxspec.subject.waiting import Run, waited_between, waited_by_now


class Stage(Protocol):
    """The case that such a bound belongs to."""

    look: Look

    @property
    def shim_processes(self) -> Sequence[Run]: ...

    def note(self, timing: Timing) -> Timing: ...


def expect_within(case: Stage, what: str, since: Stamp, until: Stamp, limit_ms: float) -> None:
    """From one stamp to another it takes no longer than that."""
    waited_ms, seen = waited_between(case.shim_processes, since, until)
    took_ms = elapsed_ms(since, until)
    case.note(Timing(what, limit_ms, until.spare_ms, took_ms, waited_ms, seen)).check()


def expect_no_longer(
    case: Stage, what: str, seen: FromOutside, control: FromOutside, limit_ms: float
) -> None:
    """One run takes no longer than another and that."""
    theirs, _ = waited_between(case.shim_processes, control.start, control.end, child=False)
    # A control that was kept waiting would hide what is looked for.
    took_ms = seen.elapsed_ms - control.elapsed_ms + theirs
    ours, whole = waited_between(case.shim_processes, seen.start, seen.end, child=True)
    waited_ms = min(ours + theirs, max(0.0, took_ms))
    case.note(Timing(what, limit_ms, ENDING_MS, took_ms, waited_ms, whole)).check()


# Who stood in line for longer, in all, may have missed the moment that a case is about.
PROMPT_MS = 20.0


@contextlib.contextmanager
def for_the_prompt(case: Stage) -> Iterator[None]:
    """Around what only somebody who is prompt gets right, such as to act between two moments.

    What fails here on a machine that kept a run of the case waiting is asked again.
    """
    try:
        yield
    except Failure as why:
        waited_ms = max((waited_by_now(run)[0] for run in case.shim_processes), default=0.0)
        if case.look.realtime or waited_ms <= PROMPT_MS:
            why.timed = case.look.realtime
            raise
        evidence = {**why.evidence, "waited_ms": round(waited_ms, 3)}
        raise Late(why.what, why.expected, why.got, evidence) from why
